package words_test

import (
	"fmt"
	"math"

	"foible/core/words"
)

func Example() {
	fmt.Println(words.Thousands(999), words.Thousands(1000), words.Thousands(-1234567), words.Thousands(-123))
	fmt.Println(words.Count(1, "stimulus"), words.Count(0, "stimulus"), words.Count(int64(2000), "run"))
	fmt.Println(words.Decimals(0.9854, 3), words.Decimals(1, 2), words.Decimals(-0.2, 2), words.Decimals(-0.001, 2), words.Decimals(math.NaN(), 2), words.Decimals(0, 0))
	fmt.Println(words.List(nil)+";", words.List([]string{"a"})+";", words.List([]string{"a", "b", "c"}))
	// Output:
	// 999 1,000 -1,234,567 -123
	// 1 stimulus 0 stimuli 2,000 runs
	// .985 1.00 −.20 .00 – 0
	// ; a; a, b and c
}
