package app

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/catalog"
	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/snapshot"
	"github.com/interlock-gateway/interlock/internal/stats"
	"github.com/interlock-gateway/interlock/internal/store"
)

// record keeps the record of a request and counts it.
func (a *App) record(r *audit.Record) error {
	err := a.spool.Append(r)
	if err == nil && r.Kind == audit.KindRequest && a.lag.Load() == 0 {
		a.stats.Add(r)
	}
	return err
}

// now is the time of requests.
func (a *App) now() time.Time { return time.Now().Add(-time.Duration(a.lag.Load())) }

// Backdate runs send once for each of the last minutes, and records its requests
// in that minute: the made-up traffic of a demonstration. It is for nothing
// else; what else is asked meanwhile gets a wrong time, too.
func (a *App) Backdate(ctx context.Context, minutes int, send func(minute int) error) error {
	select {
	case <-a.recounted: // it would count them as well
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for m := range minutes {
		a.lag.Store(int64(time.Duration(minutes-m) * time.Minute))
		if err := send(m); err != nil {
			return err
		}
	}
	a.lag.Store(0)
	now := time.Now()
	_, _ = a.countPast(ctx, now.Add(-time.Duration(minutes+1)*time.Minute), now) // logged
	return nil
}

// A start counts the newest requests again: this many, in batches, with a pause
// between them so that requests are not held up.
const (
	recountMost  = 40_000
	recountBatch = 500
	recountPause = 20 * time.Millisecond
	recountAgain = 5 * time.Second
)

// recount counts requests of the time before this process.
func (a *App) recount(ctx context.Context) {
	defer close(a.recounted)
	until := a.stats.Answer("1h").Since // what came later is counted as it ends
	if oldest, ok := a.countPast(ctx, until.Add(-stats.Longest), until); ok {
		a.stats.WholeSince(oldest)
	}
}

// countPast counts the requests of a time that were not counted as they ended,
// the newest first. It tells since when they are all counted; false if they
// can't be read.
func (a *App) countPast(ctx context.Context, from, until time.Time) (since time.Time, ok bool) {
	filter := store.RecordFilter{Kind: audit.KindRequest, From: from, To: until}
	next := time.NewTimer(0)
	defer next.Stop()
	oldest := until
	for read := 0; read < recountMost; {
		select {
		case <-ctx.Done():
			return since, false
		case <-next.C:
		}
		if read == 0 {
			_ = a.imports.Sync(ctx) // what the last process left in the spool; without it the rest counts
		}
		records, err := a.store.Records(ctx, filter, recountBatch)
		if errors.Is(err, store.ErrUnavailable) {
			next.Reset(recountAgain)
			continue
		}
		if err != nil {
			if ctx.Err() == nil {
				a.log.Warn("earlier requests are not counted", "error", err)
			}
			return since, false
		}
		for i := range records {
			var r audit.Record
			if json.Unmarshal(records[i].Data, &r) == nil {
				a.stats.AddPast(&r)
			}
			filter.Before, oldest = records[i].Seq, records[i].Time
		}
		if read += len(records); len(records) < recountBatch {
			return filter.From, true
		}
		next.Reset(recountPause)
	}
	return oldest, true
}

// maxPrices bounds the prices that are remembered: clients choose names of
// models.
const maxPrices = 1024

// pricer says what requests cost by the list prices of the configuration in
// use. It is not safe for concurrent use.
type pricer struct {
	live   func() *snapshot.Live
	of     *snapshot.Live
	prices map[priceKey]catalog.Model
}

type priceKey struct{ provider, model string }

func (p *pricer) price(provider, wireModel string, u *llm.Usage) (float64, bool) {
	live := p.live()
	if live == nil || live.Models == nil {
		return 0, false
	}
	if p.of != live || len(p.prices) >= maxPrices {
		p.of, p.prices = live, map[priceKey]catalog.Model{}
	}
	key := priceKey{provider, wireModel}
	m, known := p.prices[key]
	if !known {
		m, _ = live.Models.Find(vendorOf(live, provider), wireModel)
		p.prices[key] = m
	}
	return cost(&m, u)
}

func vendorOf(live *snapshot.Live, provider string) string {
	for _, v := range live.Routing.Providers() {
		if string(v.ID) == provider {
			return v.Vendor
		}
	}
	return ""
}

// cost is what a usage costs in USD. It is known if each kind of token that was
// used has a price.
func cost(m *catalog.Model, u *llm.Usage) (usd float64, known bool) {
	prices := m.Prices
	if prompt := u.Input + u.CachedRead + u.CachedWrite; m.Above.Tokens > 0 && prompt > int64(m.Above.Tokens) && m.Above.Input.Known {
		prices = m.Above.Prices
	}
	for _, part := range []struct {
		tokens int64
		price  catalog.Price
	}{{u.Input, prices.Input}, {u.Output, prices.Output}, {u.CachedRead, prices.CacheRead}, {u.CachedWrite, prices.CacheWrite5m}} {
		if part.tokens > 0 && !part.price.Known {
			return 0, false
		}
		usd += float64(part.tokens) * part.price.USD / 1e6
	}
	return usd, true
}
