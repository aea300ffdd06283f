package routing

import (
	"math"
	"testing"
)

func priced(in, out float64) ModelInfo { return ModelInfo{Input: in, Output: out, Priced: true} }

func TestRT_STRAT_COST_starts_on_the_cheapest(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, row := range []struct {
		name   string
		prices []ModelInfo
		want   int
		why    string
	}{
		{"the lowest sum", []ModelInfo{priced(3, 15), priced(0.5, 2), priced(1, 5)}, 1, "2.50 USD per million tokens, in and out"},
		{"both prices count", []ModelInfo{priced(1, 9), priced(4, 4)}, 1, "8.00 USD per million tokens, in and out"},
		{"digits behind the cents", []ModelInfo{priced(0.075, 0.3)}, 0, "0.375 USD per million tokens, in and out"},
		{"an unknown price is last", []ModelInfo{{}, priced(100, 100)}, 1, "200.00 USD per million tokens, in and out"},
		{"an unknown price is not 0", []ModelInfo{{Input: 0.1, Output: 0.1}, priced(1, 1)}, 1, "2.00 USD per million tokens, in and out"},
		{"free of charge is a price", []ModelInfo{priced(1, 1), priced(0, 0)}, 1, "0.00 USD per million tokens, in and out"},
		{"nothing is known", []ModelInfo{{}, {}}, 0, "first in order: no price is known"},
		{"ties keep the order", []ModelInfo{priced(9, 9), priced(2, 3), priced(1, 4), priced(3, 2)}, 1, "5.00 USD per million tokens, in and out"},
		{"ties that fractions would break", []ModelInfo{priced(0.1, 0.2), priced(0.3, 0)}, 0, "0.30 USD per million tokens, in and out"},
		{"a small difference counts", []ModelInfo{priced(0.1, 0.200001), priced(0.3, 0)}, 1, "0.30 USD per million tokens, in and out"},
		{"NaN is unknown", []ModelInfo{priced(nan, 1), priced(1, nan), priced(nan, nan), priced(7, 7)}, 3, "14.00 USD per million tokens, in and out"},
		{"so is infinite", []ModelInfo{priced(inf, 1), priced(-inf, inf), priced(7, 7)}, 2, "14.00 USD per million tokens, in and out"},
		{"so is less than nothing", []ModelInfo{priced(-5, 1), priced(1, -5), priced(7, 7)}, 2, "14.00 USD per million tokens, in and out"},
		{"so is less than nothing that the other price makes up for", []ModelInfo{priced(-5, 6), priced(6, -5), priced(7, 7)}, 2, "14.00 USD per million tokens, in and out"},
		{"free of charge has no sign", []ModelInfo{priced(math.Copysign(0, -1), math.Copysign(0, -1))}, 0, "0.00 USD per million tokens, in and out"},
		{"so is a sum beyond numbers", []ModelInfo{priced(math.MaxFloat64, math.MaxFloat64), priced(7, 7)}, 1, "14.00 USD per million tokens, in and out"},
		{"nothing is sound", []ModelInfo{priced(nan, 1), priced(-1, 0)}, 0, "first in order: no price is known"},
	} {
		t.Run(row.name, func(t *testing.T) {
			weights := make([]int, len(row.prices)) // of no interest
			options := optionsOf(weights...)
			s := &samples{models: map[string]ModelInfo{}}
			for i, m := range row.prices {
				options[i].Provider.Vendor = string(options[i].Provider.ID)
				s.models[options[i].Provider.Vendor+"/m"] = m
			}
			if i, why := (lowestCost{}).Start(options, choiceOf(s, &script{})); i != row.want || why != row.why {
				t.Errorf("got %d (%s), want %d (%s)", i, why, row.want, row.why)
			}
		})
	}
}

// The price is that of the model which the member receives, at its vendor.
func TestRT_STRAT_COST_of_the_received_model(t *testing.T) {
	options := optionsOf(1, 1, 1)
	options[0].Provider.Vendor, options[0].WireModel = "anthropic", "m"
	options[1].Provider.Vendor, options[1].WireModel = "amazon", "m"
	options[2].Provider.Vendor, options[2].WireModel = "amazon", "anthropic.m-v1:0"
	s := &samples{models: map[string]ModelInfo{
		"anthropic/m": priced(3, 15), "amazon/anthropic.m-v1:0": priced(2, 10), "/m": priced(0, 0), "anthropic/anthropic.m-v1:0": priced(0, 0),
	}}
	if i, why := (lowestCost{}).Start(options, choiceOf(s, &script{})); i != 2 || why != "12.00 USD per million tokens, in and out" {
		t.Errorf("got %d (%s)", i, why)
	}
}

// A session changes nothing: the spec says "same".
func TestRT_STRAT_COST_is_the_same_with_a_session(t *testing.T) {
	if i, _, ok := keep(lowestCost{}.Affinity(), optionsOf(1, 1), "s", Pin{Start: "b"}); ok {
		t.Errorf("a session keeps %d", i)
	}
}
