package stats

import (
	"math"
	"sync"
)

// counts is a resampling of participants who answered every point of their one
// stimulus. A covariance with a model is then a sum over participants: how often
// each counts, times its own covariance. Two participants are looked up at once.
type counts struct {
	start  []int       // stimulus s has the participants start[s] to start[s+1], over all stimuli
	values [][]float64 // [participant][point kept of its stimulus] judgement less centre, over the stimulus's participants
	centre float64     // mean of all judgements
	times  []uint16    // [resample][participant] how often it counts, over the copies of its stimulus

	pairs []pair    // made by index, like the rest
	codes []uint32  // [resample][pair] place in the table
	size  int       // of the table
	spare sync.Pool // *[]float64 of that size
}

// pair are a participant and the next. The table has a place for each number of
// times that they may count, from offset on.
type pair struct {
	first        int
	most, second int // times of the first, and of the other
	offset       int
}

// newCounts is nil where the responses are not of that kind.
func newCounts(h Human, b *Bootstrap) *counts {
	if h.Linked {
		return nil
	}
	c := &counts{start: []int{0}}
	n := 0
	for s, r := range h.Stimuli {
		for _, row := range r.Values {
			var values []float64
			for p := b.start[s]; p < b.start[s+1]; p++ {
				v := row[b.points[p]]
				if math.IsNaN(v) {
					return nil
				}
				values = append(values, v)
				c.centre += v
				n++
			}
			c.values = append(c.values, values)
		}
		c.start = append(c.start, len(c.values))
	}
	if n > 0 {
		c.centre /= float64(n)
	}
	for s := range h.Stimuli {
		for _, values := range c.values[c.start[s]:c.start[s+1]] {
			for p := range values {
				values[p] = (values[p] - c.centre) / float64(c.start[s+1]-c.start[s])
			}
		}
	}
	return c
}

// add notes a resample: the stimuli drawn, and how often the participants of
// each copy count.
func (c *counts) add(drawn []int, weight [][]int) {
	at := len(c.times)
	c.times = append(c.times, make([]uint16, len(c.values))...)
	for i, s := range drawn {
		for j, w := range weight[i] {
			c.times[at+c.start[s]+j] += uint16(w)
		}
	}
}

// index pairs the participants when all resamples are there.
func (c *counts) index() {
	n := len(c.values)
	most := make([]int, n)
	for i, w := range c.times {
		most[i%n] = max(most[i%n], int(w))
	}
	for i := 0; i < n; i += 2 {
		p := pair{first: i, most: most[i], offset: c.size}
		if i+1 < n {
			p.second = most[i+1]
		}
		c.size += (p.most + 1) * (p.second + 1)
		c.pairs = append(c.pairs, p)
	}
	c.codes = make([]uint32, 0, len(c.times)/n*len(c.pairs))
	for at := 0; at < len(c.times); at += n {
		for _, p := range c.pairs {
			code := p.offset + int(c.times[at+p.first])*(p.second+1)
			if p.first+1 < n {
				code += int(c.times[at+p.first+1])
			}
			c.codes = append(c.codes, uint32(code))
		}
	}
}

// table has, for each pair and the times that the two count, the sum of products
// with a model x, over the points kept. The caller puts it into spare after use.
func (c *counts) table(b *Bootstrap, x []float64) *[]float64 {
	product := make([]float64, len(c.values)+1) // of a participant; 0 after the last
	for s := range b.lengths {
		of := x[b.start[s]:b.start[s+1]]
		for i := c.start[s]; i < c.start[s+1]; i++ {
			product[i] = dot(of, c.values[i])
		}
	}
	spare, ok := c.spare.Get().(*[]float64)
	if !ok {
		fresh := make([]float64, c.size)
		spare = &fresh
	}
	for _, p := range c.pairs {
		of := (*spare)[p.offset:]
		second := product[p.first+1]
		for i := range p.most + 1 {
			row := of[i*(p.second+1) : (i+1)*(p.second+1)]
			first := float64(float64(i) * product[p.first])
			for j := range row {
				row[j] = first + float64(float64(j)*second)
			}
		}
	}
	return spare
}

// sum is the sum of products of a resample with the model of a table, in four
// interleaved sums.
func (c *counts) sum(k int, table []float64) float64 {
	codes := c.codes[k*len(c.pairs) : (k+1)*len(c.pairs)]
	var s0, s1, s2, s3 float64
	for len(codes) >= 4 {
		s0 += table[codes[0]]
		s1 += table[codes[1]]
		s2 += table[codes[2]]
		s3 += table[codes[3]]
		codes = codes[4:]
	}
	for _, code := range codes {
		s0 += table[code]
	}
	return (s0 + s1) + (s2 + s3)
}

// row is the human side of a resample: judgements less centre, summed over the
// copies of their stimulus.
func (c *counts) row(b *Bootstrap, k int) []float64 {
	row := make([]float64, len(b.points))
	times := c.times[k*len(c.values) : (k+1)*len(c.values)]
	for s := range b.lengths {
		of := row[b.start[s]:b.start[s+1]]
		for i := c.start[s]; i < c.start[s+1]; i++ {
			for p, v := range c.values[i] {
				of[p] += float64(float64(times[i]) * v)
			}
		}
	}
	return row
}
