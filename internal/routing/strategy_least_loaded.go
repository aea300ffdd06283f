package routing

// leastLoaded draws two members by weight and starts on the better one. The
// best of all would get everybody's requests until its load shows; two draws
// spread them and still avoid the worst.
type leastLoaded struct{}

func (leastLoaded) ID() string { return "least-loaded" }

func (leastLoaded) Affinity() Affinity { return AffinityWeighted }

func (leastLoaded) Start(options []Option, c *Choice) (int, string) {
	total := totalWeight(options)
	if total == 0 {
		return 0, noWeights
	}
	a := at(options, c.Draw()%total, -1)
	rest := total - options[a].weight()
	if rest == 0 {
		return a, "the only one to draw"
	}
	b := at(options, c.Draw()%rest, a)
	if busier(load(&options[a], c), load(&options[b], c)) {
		a = b
	}
	return a, "the better of two draws"
}

// at finds the option at a place in the row of all weights but that of one
// option.
func at(options []Option, place uint64, without int) int {
	for i := range options {
		if i == without {
			continue
		}
		w := options[i].weight()
		if place < w {
			return i
		}
		place -= w
	}
	return 0 // not reached: place is less than the sum of weights
}

func load(o *Option, c *Choice) Load { return c.View.Load(o.Provider.ID, o.WireModel) }

// busier tells whether a request is better off at b. An unknown latency counts
// as that of the other: a new member would otherwise get everything or nothing.
func busier(a, b Load) bool {
	la, lb := max(a.Latency, 0), max(b.Latency, 0)
	if la == 0 {
		la = lb
	}
	if lb == 0 {
		lb = la
	}
	return a.cost(float64(max(la, 1))) > b.cost(float64(max(lb, 1)))
}

// minSuccess is the least success that counts. A member that only fails seems
// a hundred times as slow, which is not forever: enough load elsewhere lets it
// show that it recovered.
const minSuccess = 0.01

// cost estimates how long one more request takes, failed ones repeated.
func (l Load) cost(latency float64) float64 {
	success := min(max(l.Success, minSuccess), 1)
	if l.Success == 0 && l.Latency <= 0 || !(l.Success >= 0) {
		success = 1 // unknown, or no share of anything: NaN is not >= 0 either
	}
	return (float64(max(l.InFlight, 0)) + 1) * latency / success
}
