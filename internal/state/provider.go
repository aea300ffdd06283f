package state

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/interlock-gateway/interlock/internal/routing"
)

// Bounds on what is tracked of one provider: wire models come from clients.
const (
	maxDeployments = 256
	maxWireModel   = 256 // bytes of a name
	// forgetAfter is how long a deployment without a success is worth its
	// place when places are short.
	forgetAfter = maxMinutes * time.Minute
	sweepEvery  = time.Minute
)

// provider is the state of one provider.
type provider struct {
	id    routing.ProviderID
	board *Board
	gone  atomic.Bool // dropped by Retain: nobody wants to hear of it

	mu       sync.Mutex // guards what follows
	health   health
	inFlight int
	recent   counts
	// swept is when no place could be freed: looking costs too much to do it
	// for every request.
	swept time.Time

	// deployments are found without the lock and added under it.
	deployments table[*deployment]
	// others stands for all deployments that found no place.
	others atomic.Pointer[deployment]
}

// find is the state of a deployment, or nil if it has none.
func (v *provider) find(wireModel string) *deployment {
	if d, ok := v.deployments.get(wireModel); ok {
		return d
	}
	if len(wireModel) > maxWireModel || len(v.deployments.all()) >= maxDeployments {
		return v.others.Load()
	}
	return nil
}

// take counts one more running request of a deployment. The lock is held, so
// that a deployment in use can't be forgotten.
func (v *provider) take(wireModel string) *deployment {
	d, ok := v.deployments.get(wireModel)
	if !ok {
		d = v.place(wireModel)
	}
	d.inFlight.Add(1)
	return d
}

// place makes a deployment, or shares one if there is no place for it.
func (v *provider) place(wireModel string) *deployment {
	if len(wireModel) <= maxWireModel {
		if len(v.deployments.all()) >= maxDeployments {
			v.sweep(v.board.now())
		}
		if len(v.deployments.all()) < maxDeployments {
			wireModel = strings.Clone(wireModel) // it may be a piece of a large body
			return v.deployments.add(wireModel, &deployment{wireModel: wireModel})
		}
	}
	v.others.CompareAndSwap(nil, &deployment{wireModel: "*", shared: true})
	return v.others.Load()
}

// sweep frees the places of deployments that are not worth them.
func (v *provider) sweep(now time.Time) {
	if now.Sub(v.swept) < sweepEvery {
		return
	}
	if gone := v.deployments.drop(func(_ string, d *deployment) bool { return d.worthless(now) }); len(gone) == 0 {
		v.swept = now
	}
}

// tracked are all deployments, in no order.
func (v *provider) tracked() []*deployment {
	all := v.deployments.all()
	out := make([]*deployment, 0, len(all)+1)
	for _, d := range all {
		out = append(out, d)
	}
	if d := v.others.Load(); d != nil {
		out = append(out, d)
	}
	return out
}

// counts are requests and errors per minute of the last minutes.
type counts [reportMinutes + 1]struct {
	minute           int64
	requests, errors int
}

func (c *counts) count(minute int64, failed bool) {
	m := &c[minute%int64(len(c))]
	if m.minute != minute {
		m.minute, m.requests, m.errors = minute, 0, 0
	}
	m.requests++
	if failed {
		m.errors++
	}
}

func (c *counts) sum(minute int64) (requests, errors int) {
	for i := range c {
		if m := &c[i]; m.minute <= minute && m.minute >= minute-reportMinutes {
			requests += m.requests
			errors += m.errors
		}
	}
	return requests, errors
}
