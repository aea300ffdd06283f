package routing

import (
	"math"
	"strconv"
)

// lowestCost starts on the member whose model has the lowest list price.
type lowestCost struct{}

func (lowestCost) ID() string { return "lowest-cost" }

func (lowestCost) Affinity() Affinity { return AffinityNone }

func (lowestCost) Start(options []Option, c *Choice) (int, string) {
	best, lowest := 0, math.Inf(1)
	for i := range options {
		o := &options[i]
		if p := listPrice(c.Models.Model(o.Provider.Vendor, o.WireModel)); p < lowest {
			best, lowest = i, p
		}
	}
	if math.IsInf(lowest, 1) {
		return 0, "first in order: no price is known"
	}
	return best, priceText(lowest)
}

// listPrice is the price of a million tokens in and a million out, in
// millionths of a USD; infinite if it is not known, as is one that is no
// amount of money. Whole numbers keep ties that sums of fractions would break.
func listPrice(m ModelInfo) float64 {
	if !m.Priced || !(m.Input >= 0 && m.Output >= 0) { // NaN is not >= 0 either
		return math.Inf(1)
	}
	return math.Abs(math.Round((m.Input + m.Output) * 1e6)) // no -0
}

// priceText writes a price with cents, and further digits if it has any.
func priceText(micros float64) string {
	var buf [64]byte
	b := strconv.AppendFloat(buf[:0], micros/1e6, 'f', 6, 64)
	for range 4 {
		if b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return string(append(b, " USD per million tokens, in and out"...))
}
