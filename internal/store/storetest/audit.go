package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
)

func auditTests() []test {
	return []test{
		{"a record is stored whole", recordWhole},
		{"OP-4: the place in a spool moves with its records, for each spool", placesMove},
		{"OP-4: a batch that is imported twice is stored once", importsOnce},
		{"OP-4: a batch that fails stores nothing", func(f *fixture) {
			ctx, cancel := contextThatEnds(f)
			cancel()
			if err := f.store.Import(ctx, "spool", records(0, 5), store.Position{Offset: 5}); err == nil {
				f.Fatal("it was imported")
			}
			f.same("records", len(f.records(store.RecordFilter{}, 10)), 0)
			f.same("the place", f.imported("spool"), store.Position{})
		}},
		{"OP-4: importers that race store each record once", importersRace},
		{"a place moves without records", func(f *fixture) {
			f.must(f.store.Import(f.Context(), "spool", nil, store.Position{Segment: 2}))
			f.same("the place", f.imported("spool"), store.Position{Segment: 2})
		}},
		{"records are listed newest first and in pages, whatever comes in", pagesRecords},
		{"every filter selects", filters},
		{"filters match exactly", filtersExactly},
		{"time filters hold for records that came late", lateRecords},
		{"filters and pages agree with a plain search", filtersAgree},
		{"records without texts and with odd ones", oddRecords},
	}
}

func recordTime(i int) time.Time {
	return time.Date(2026, 2, 1, 0, 0, 0, 1000, time.UTC).Add(time.Duration(i) * time.Second)
}

// records makes n records, one a second, the first with number from.
func records(from, n int) []store.Record {
	out := make([]store.Record, n)
	for i := range out {
		k := from + i
		out[i] = store.Record{
			Time: recordTime(k), RequestID: fmt.Sprintf("req-%06d", k), Kind: "request", Outcome: "allow", Status: 200,
			Key: fmt.Sprintf("key-%d", k%7), Team: fmt.Sprintf("team-%d", k%5), Model: fmt.Sprintf("model-%d", k%4),
			Route: fmt.Sprintf("route-%d", k%3), Provider: fmt.Sprintf("provider-%d", k%2), Data: json.RawMessage(fmt.Sprintf(`{"n":%d}`, k)),
		}
		if k%10 == 9 {
			out[i].Outcome, out[i].Code, out[i].Status = "error", "provider_failed", 502
		}
	}
	return out
}

func (f *fixture) imported(spool string) store.Position {
	f.Helper()
	p, err := f.store.Imported(f.Context(), spool)
	f.must(err)
	return p
}

// fill imports n records in small batches from a spool that has only them.
func (f *fixture) fill(n int) {
	f.Helper()
	for i := 0; i < n; i += 70 {
		batch := min(70, n-i)
		f.must(f.store.Import(f.Context(), "spool", records(i, batch), store.Position{Segment: 1, Offset: int64(i + batch)}))
	}
}

func (f *fixture) records(filter store.RecordFilter, limit int) []store.Record {
	f.Helper()
	got, err := f.store.Records(f.Context(), filter, limit)
	f.must(err)
	return got
}

// numbers are the numbers in the data of records.
func (f *fixture) numbers(records []store.Record) []int {
	f.Helper()
	var out []int
	for _, r := range records {
		var data struct{ N int }
		f.must(json.Unmarshal(r.Data, &data))
		out = append(out, data.N)
	}
	return out
}

func recordWhole(f *fixture) {
	rec := store.Record{
		Time: at(1), RequestID: "r", Kind: "request", Outcome: "deny", Code: "c", Status: 403, Key: "k", Team: "t",
		Model: "m", Route: "o", Provider: "p", Data: json.RawMessage(`{"a": [1, "é\u0000"]}`),
	}
	f.must(f.store.Import(f.Context(), "spool", []store.Record{rec}, store.Position{Offset: 1}))
	f.reopen()
	rec.Seq = 1
	f.same("records", f.records(store.RecordFilter{}, 10), []store.Record{rec})
	if loc := f.records(store.RecordFilter{}, 10)[0].Time.Location(); loc != time.UTC {
		f.Fatalf("the location is %v", loc)
	}
}

func placesMove(f *fixture) {
	f.same("the place", f.imported("a"), store.Position{})
	f.must(f.store.Import(f.Context(), "a", records(0, 3), store.Position{Segment: 4, Offset: 300}))
	f.must(f.store.Import(f.Context(), "A", records(3, 1), store.Position{Segment: 1, Offset: 5}))
	f.must(f.store.Import(f.Context(), "a", records(4, 2), store.Position{Segment: 5, Offset: 10}))
	f.reopen()
	f.same("places", []store.Position{f.imported("a"), f.imported("A"), f.imported("b")}, []store.Position{{Segment: 5, Offset: 10}, {Segment: 1, Offset: 5}, {}})
	f.same("records", f.numbers(f.records(store.RecordFilter{}, 10)), []int{5, 4, 3, 2, 1, 0})
}

func importsOnce(f *fixture) {
	upTo := store.Position{Segment: 1, Offset: 500}
	f.must(f.store.Import(f.Context(), "spool", records(0, 5), upTo))
	for _, place := range []store.Position{upTo, {Segment: 1, Offset: 499}, {Segment: 0, Offset: 900}, {}} {
		if err := f.store.Import(f.Context(), "spool", records(0, 5), place); !errors.Is(err, store.ErrImported) {
			f.Fatalf("up to %v: %v", place, err)
		}
	}
	f.same("the place", f.imported("spool"), upTo)
	f.same("records", f.numbers(f.records(store.RecordFilter{}, 10)), []int{4, 3, 2, 1, 0})
	f.must(f.store.Import(f.Context(), "spool", records(5, 1), store.Position{Segment: 2}))
	f.same("numbers have no gap", f.records(store.RecordFilter{}, 1)[0].Seq, int64(6))
}

func importersRace(f *fixture) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 20 {
				err := f.store.Import(f.Context(), "spool", records(i*3, 3), store.Position{Segment: 1, Offset: int64(i + 1)})
				if err != nil && !errors.Is(err, store.ErrImported) {
					f.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := f.numbers(f.records(store.RecordFilter{}, 1000))
	f.same("records", len(got), 60)
	slices.Sort(got)
	f.same("each is there once", len(slices.Compact(got)), 60)
}

func pagesRecords(f *fixture) {
	f.fill(1300)
	for _, filter := range []store.RecordFilter{
		{}, {Provider: "provider-1"}, {Key: "key-3"}, {Outcome: "error"}, {From: recordTime(100), To: recordTime(1200)}, {Model: "model-3", Route: "route-2", From: recordTime(5)},
	} {
		before := f.numbers(f.records(filter, 5000))
		var got []int
		next := filter
		for page := 0; ; page++ {
			list := f.records(next, 100)
			if len(list) == 0 {
				break
			}
			got = append(got, f.numbers(list)...)
			next.Before = list[len(list)-1].Seq
			f.must(f.store.Import(f.Context(), fmt.Sprintf("other %v", filter), records(700, 3), store.Position{Offset: int64(page + 1)}))
		}
		f.same(fmt.Sprintf("all pages of %+v", filter), got, before)
	}
	for _, limit := range []int{0, -1} {
		f.same("records without room", len(f.records(store.RecordFilter{}, limit)), 0)
	}
}

func filters(f *fixture) {
	f.fill(40)
	f.must(f.store.Import(f.Context(), "admin", []store.Record{{Time: recordTime(40), Kind: "admin", Team: "ops", Data: json.RawMessage(`{"n":40}`)}}, store.Position{Offset: 1}))
	for _, tc := range []struct {
		filter store.RecordFilter
		want   []int
	}{
		{store.RecordFilter{RequestID: "req-000012"}, []int{12}},
		{store.RecordFilter{Kind: "admin"}, []int{40}},
		{store.RecordFilter{Kind: "admin", Team: "ops"}, []int{40}},
		{store.RecordFilter{Kind: "request", Team: "ops"}, nil},
		{store.RecordFilter{Kind: "request", Before: 3}, []int{1, 0}},
		{store.RecordFilter{Outcome: "error"}, []int{39, 29, 19, 9}},
		{store.RecordFilter{Outcome: "allow", Before: 11}, []int{8, 7, 6, 5, 4, 3, 2, 1, 0}},
		{store.RecordFilter{Code: "provider_failed", Before: 30}, []int{19, 9}},
		{store.RecordFilter{Key: "key-6"}, []int{34, 27, 20, 13, 6}},
		{store.RecordFilter{Team: "team-0", Before: 20}, []int{15, 10, 5, 0}},
		{store.RecordFilter{Model: "model-3", Before: 15}, []int{11, 7, 3}},
		{store.RecordFilter{Route: "route-1", Before: 9}, []int{7, 4, 1}},
		{store.RecordFilter{Provider: "provider-0", Before: 6}, []int{4, 2, 0}},
		{store.RecordFilter{From: recordTime(38)}, []int{40, 39, 38}},
		{store.RecordFilter{To: recordTime(2)}, []int{1, 0}},
		{store.RecordFilter{From: recordTime(5), To: recordTime(8)}, []int{7, 6, 5}},
		{store.RecordFilter{From: recordTime(5), To: recordTime(5)}, nil},
		{store.RecordFilter{Key: "key-2", Outcome: "error"}, []int{9}},
		{store.RecordFilter{Key: "key-2", Outcome: "error", From: recordTime(10)}, nil},
		{store.RecordFilter{RequestID: "req-000012", Provider: "provider-1"}, nil},
		{store.RecordFilter{Model: "model-1", Route: "route-1", Team: "team-1", Provider: "provider-1", Kind: "request", Outcome: "allow"}, []int{1}},
	} {
		f.same(fmt.Sprintf("%+v", tc.filter), f.numbers(f.records(tc.filter, 100)), tc.want)
	}
}

func filtersExactly(f *fixture) {
	f.fill(40)
	for _, filter := range []store.RecordFilter{
		{RequestID: "REQ-000012"},
		{RequestID: "req-0000"},
		{Key: "Key-1"},
		{Key: "key-%"},
		{Key: "key"},
		{Provider: "provider-_"},
		{Provider: "Provider-1"},
		{Model: "model-1 "},
		{Outcome: "Error"},
		{Kind: "none"},
		{Code: "' OR 1=1 --"},
		{Before: 1},
		{Team: "team-1", Model: "model-9"},
	} {
		f.same(fmt.Sprintf("%+v", filter), len(f.records(filter, 10)), 0)
	}
}

func lateRecords(f *fixture) {
	f.fill(1200)
	f.must(f.store.Import(f.Context(), "late", records(10, 3), store.Position{Offset: 1}))
	f.same("old times", f.numbers(f.records(store.RecordFilter{To: recordTime(13)}, 5)), []int{12, 11, 10, 12, 11})
	f.same("new times", f.numbers(f.records(store.RecordFilter{From: recordTime(1198)}, 5)), []int{1199, 1198})
	f.same("a moment", f.numbers(f.records(store.RecordFilter{From: recordTime(12), To: recordTime(13)}, 5)), []int{12, 12})
}

// filtersAgree compares combinations of filters with a search through a list.
func filtersAgree(f *fixture) {
	const n = 2600
	f.fill(n)
	all := f.records(store.RecordFilter{}, n+1)
	f.same("records", len(all), n)
	for mask := range 1 << 7 {
		r := all[(mask*37)%n]
		var want store.RecordFilter
		for bit, set := range []func(){
			func() { want.Key = r.Key }, func() { want.Model = r.Model }, func() { want.Provider = r.Provider }, func() { want.Outcome = r.Outcome },
			func() { want.From = r.Time.Add(-20 * time.Minute) }, func() { want.To = r.Time.Add(5 * time.Minute) }, func() { want.Before = r.Seq + 300 },
		} {
			if mask>>bit&1 == 1 {
				set()
			}
		}
		var list []int64
		for _, x := range all {
			if matches(&want, &x) && len(list) < 40 {
				list = append(list, x.Seq)
			}
		}
		var got []int64
		for _, x := range f.records(want, 40) {
			got = append(got, x.Seq)
		}
		f.same(fmt.Sprintf("%+v", want), got, list)
	}
}

func matches(f *store.RecordFilter, r *store.Record) bool {
	return (f.Key == "" || f.Key == r.Key) && (f.Model == "" || f.Model == r.Model) && (f.Provider == "" || f.Provider == r.Provider) &&
		(f.Outcome == "" || f.Outcome == r.Outcome) && (f.From.IsZero() || !r.Time.Before(f.From)) && (f.To.IsZero() || r.Time.Before(f.To)) &&
		(f.Before == 0 || r.Seq < f.Before)
}

func oddRecords(f *fixture) {
	odd := store.Record{Time: time.Time{}, Model: "m\xff\x00'é", Key: "名前", Data: json.RawMessage("{\"x\":\"\xff\"}")}
	f.must(f.store.Import(f.Context(), "sp\x00ool", []store.Record{{}, odd}, store.Position{Offset: 1}))
	want := []store.Record{{Seq: 2, Model: "m\uFFFD'é", Key: "名前", Data: json.RawMessage("{\"x\":\"\uFFFD\"}")}, {Seq: 1}}
	f.same("records", f.records(store.RecordFilter{}, 10), want)
	f.same("by the odd model", f.records(store.RecordFilter{Model: odd.Model, Key: odd.Key}, 10), want[:1])
	f.same("the place", f.imported("sp\x00ool"), store.Position{Offset: 1})
}
