// Package marginal infers the goal of a boundedly rational agent without particles, by a
// recursion over the steps at which the agent plans anew. The posterior is that of package
// sips with observed states taken as known. [Inference] is the entry; this text derives
// what it computes.
//
// # The generative model
//
// The agent has an original goal g. At each step k = 0, 1, 2, ... it is in the
// observed state s_k and does four things in this order:
//
//  1. Its current goal may change. T is the transition matrix over the goals that
//     it can have, H = {g} and the goals that g can be confused with. With ε the goal
//     noise and share(c) the probability that a confusion of g leads to c (Σ_c share(c) = 1;
//     share(g) > 0 where the identity counts as a confusion):
//
//     T(g→c) = (1-ε) [c = g] + ε share(c)
//     T(c→g) = ε,  T(c→c) = 1-ε       for c ≠ g
//
//  2. It keeps its plan if the plan has a next action and the last one led to the
//     state that the plan expected. Otherwise it plans anew for the current goal c:
//     it draws a budget η from NegBin(r, q), searches from s_k, and the path that the
//     search ends with is the plan. The plan may be empty. A mere change of the goal
//     does not make it plan.
//
//  3. It intends the next action of the plan, or to stay where it is if the plan is
//     empty, and slips with the action noise.
//
//  4. The action leads to s_(k+1), which is observed.
//
// # What matters of a plan
//
// Let a plan be made at step τ (tau in the code). The observed states decide how
// long it is kept, so all that matters of it is
//
//   - m, how many of its first actions lead through s_(τ+1), ..., s_(τ+m), and
//   - whether it is over after these m actions (it ends) or has a further action,
//     which leads elsewhere (it differs).
//
// This pair is a search.Meeting. For a goal c and a step τ let
//
//	E(m) = P(the plan has m matching actions and ends)
//	D(m) = P(the plan has m matching actions and differs)
//
// over budgets and searches; the arguments c and τ are left out. They do not depend
// on ε or the action noise. Σ_m E(m) + D(m) = 1.
//
// What the observer sees of an action depends on what was intended. For the action
// from s_k to s_(k+1) let (observed.Chances)
//
//	match_k = P(s_(k+1) | the intended action leads to s_(k+1))
//	other_k = P(s_(k+1) | the intended action leads elsewhere)
//	stay_k  = P(s_(k+1) | staying was intended)
//
// # The recursion
//
// For a plan made at τ, let R(m) = match_τ · ... · match_(τ+m-1) be the probability
// of its first m matching actions as observed. The plan is over, and the agent plans
// anew, at step τ+m+1 with the weight (next in type segment)
//
//	N(m) = R(m) [D(m) other_(τ+m) + E(m+1) match_(τ+m)] + [m = 0] E(0) stay_τ       (1)
//
// and after m of its actions it is still kept with the weight (live)
//
//	L(m) = R(m) [D(m) + Σ_(j>m) (D(j) + E(j))]                                      (2)
//
// Let F_τ(c) be the probability, given g, of the observations up to s_τ and that the
// agent plans at τ with the current goal c. The goal changes once at each step whether
// or not the agent plans, so
//
//	F_0(c)       = T(g→c)
//	F_(τ+m+1)(c') += Σ_c F_τ(c) N_(c,τ)(m) T^(m+1)(c→c')                            (3)
//
// for all τ and m, and the evidence for g at step k is
//
//	Z_k(g) = P(s_1, ..., s_k | g) = Σ_c F_k(c) + Σ_(τ<k) Σ_c F_τ(c) L_(c,τ)(k-τ)    (4)
//
// The posterior is P(g | s_1, ..., s_k) = P(g) Z_k(g) / Σ_h P(h) Z_k(h). TestDerivation
// recomputes an example of two steps that can be followed by hand.
//
// # Powers of the goal transition
//
// All goals c ≠ g are alike but for share(c). With a_n = T^n(g→g), b_n = T^n(c→g),
// and u_n, v_n the weight that has left for the other goals from g and from c,
//
//	T^n(g→c') = share(c') u_n                     for c' ≠ g
//	T^n(c→c') = share(c') v_n + (1-ε)^n [c = c']  for c, c' ≠ g
//
// so that (3) needs one multiplication for each goal c ≠ g, not one for each pair. For
// the same reason F_τ(c) is kept in two parts: share(c) times one common weight, and
// a weight of its own (inflow and hidden in type forward).
//
// As long as a mistaken goal is kept, the probability (1-ε)^n to keep it does not
// depend on which goal it is. Sums over goals by the step at which a goal was taken
// up therefore serve every ε (type switches).
//
// # What is sampled
//
// E and D are the only quantities that are not computed exactly. A search without a
// budget passes through the plans of every budget: the plan of budget n is known after
// n draws. So one search gives an unbiased estimate of E and D for every (r, q), by the
// probabilities P(η = n) and P(η ≥ n) of what the search finds at draw n (samples.Event,
// samples.NewWeights); all budgets, goal noises and action noises share the searches
// of one search noise. A table (samples.Table) holds the searches of one goal and step.
//
// Z_k is a sum of products, one for each way in which the agent can have planned,
// of entries of tables with increasing τ. No product uses two entries of one table,
// and tables are sampled independently, so the estimate of Z_k is unbiased. The
// posterior is a ratio of such estimates; its bias falls with the number of searches
// and is far below its standard error.
//
// # Errors and precision
//
// The searches of a table are split into batches, and the recursion runs once for
// each batch; four batches are computed side by side (a lane each). Batches are moved
// to within 1/16 of their distance from their mean (shrinkage), where Z_k is nearly linear
// in the tables; the jackknife over batches, with the factor taken back, then gives the
// standard error of the posterior (jackknife).
//
// The delta method tells how much each table contributes to the errors at the judged
// steps (contributions; type backward is a pass through (3) from that step to 0). Tables with the greatest gain
// for the work are sampled further until the errors are as small as asked for (refine).
//
// # Stages
//
// Package samples draws the searches. Files here follow the text: outcomes.go (E and D),
// segments.go (N and L), transition.go (powers of T), forward.go and switches.go (F and Z),
// posterior.go, and outside the recursion precision.go, backward.go and levels.go.
package marginal
