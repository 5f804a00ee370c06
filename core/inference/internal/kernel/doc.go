// Package kernel has the innermost loops of marginal inference: sums and updates over
// hidden goals, for several goal noises and several batches of samples at once.
//
// Package marginal derives what is computed; here are only the loops. Each exists as Go
// code, which is the reference, and on amd64 with AVX as assembly, which does the four
// lanes of a goal noise at once. Both give the same bits: products are rounded before they
// are added, and sums run in the same order. The build tag noasm leaves the assembly out.
//
// All lengths are checked before assembly runs, and indexes are checked once, when
// [Indexes] are made.
//
// BenchmarkKernel compares both, in ns for 119 hidden goals and four goal noises, on an
// Intel Xeon with AVX-512 (median of 5):
//
//	             Go    AVX  ratio
//	Begin      4222   1078    3.9
//	Advance    2428    482    5.0
//	Dot        1231    167    7.4
//	Decay      1255    324    3.9
//	Combine     310     89    3.5
//	Pass         80     13    6.2
package kernel
