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
	if err == nil && r.Kind == audit.KindRequest {
		a.stats.Add(r)
	}
	return err
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
	until := a.stats.Answer("1h").Since // what came later is counted as it ends
	filter := store.RecordFilter{Kind: audit.KindRequest, From: until.Add(-stats.Longest), To: until}
	next := time.NewTimer(0)
	defer next.Stop()
	oldest := until
	for read := 0; read < recountMost; {
		select {
		case <-ctx.Done():
			return
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
				a.log.Warn("the requests before this start are not counted", "error", err)
			}
			return
		}
		for i := range records {
			var r audit.Record
			if json.Unmarshal(records[i].Data, &r) == nil {
				a.stats.AddPast(&r)
			}
			filter.Before, oldest = records[i].Seq, records[i].Time
		}
		if read += len(records); len(records) < recountBatch {
			oldest = filter.From
			break
		}
		next.Reset(recountPause)
	}
	a.stats.WholeSince(oldest)
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
