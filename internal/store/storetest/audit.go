package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
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
		{"imports of every size are listed alike", importSizes},
		{"long and empty records are whole", longRecords},
		{"filters and pages agree with a plain search of many records, also when some are deleted", manyRecords},
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
		{RequestID: "\x00"},
		{Key: "\x00"},
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

// importSizes imports 2500 records in pieces of 1 to 900.
func importSizes(f *fixture) {
	n := 0
	for i := 0; n < 2500; i++ {
		size := min([]int{1, 2, 1, 40, 1, 1, 900, 130, 3}[i%9], 2500-n)
		f.must(f.store.Import(f.Context(), "spool", records(n, size), store.Position{Segment: 1, Offset: int64(i + 1)}))
		n += size
		if i%5 == 0 {
			f.same("the newest", f.numbers(f.records(store.RecordFilter{}, 2)), newest(n))
		}
	}
	all := f.records(store.RecordFilter{}, n+1)
	f.same("records", len(all), n)
	want := records(0, n)
	for i, got := range all {
		k := n - 1 - i
		want[k].Seq = int64(k + 1)
		if !reflect.DeepEqual(got, want[k]) {
			f.Fatalf("record %d is %+v, want %+v", k, got, want[k])
		}
	}
	for _, k := range []int{0, 500, 510, 511, 512, 1023, 2499} {
		f.same("a request", f.numbers(f.records(store.RecordFilter{RequestID: fmt.Sprintf("req-%06d", k)}, 2)), []int{k})
	}
}

// newest are the numbers of the last two of n records.
func newest(n int) []int {
	if n == 1 {
		return []int{0}
	}
	return []int{n - 1, n - 2}
}

func longRecords(f *fixture) {
	var list []store.Record
	for i := range 70 {
		r := store.Record{Seq: int64(i + 1), Time: recordTime(i), Key: fmt.Sprint(i % 2)}
		switch {
		case i%9 == 4:
			r.Data = json.RawMessage(fmt.Sprintf(`{"n":%d,"long":%q}`, i, strings.Repeat(fmt.Sprint("text ", i), 30_000)))
		case i%9 < 7:
			r.Data = json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))
		}
		list = append(list, r)
	}
	f.must(f.store.Import(f.Context(), "spool", list[:50], store.Position{Offset: 1}))
	f.must(f.store.Import(f.Context(), "spool", list[50:], store.Position{Offset: 2}))
	for _, filter := range []store.RecordFilter{{}, {Key: "1"}, {From: recordTime(30)}} {
		got := f.records(filter, 100)
		for _, r := range slices.Backward(list) {
			if !matches(&filter, &r) {
				continue
			}
			if len(got) == 0 || !reflect.DeepEqual(got[0], r) {
				f.Fatalf("%+v: record %d differs", filter, r.Seq)
			}
			got = got[1:]
		}
		f.same("records that are too many", len(got), 0)
	}
}

// manyRecords are more than an index of any kind may have in one piece.
func manyRecords(f *fixture) {
	const n, batch = 36_000, 4000
	all := make([]store.Record, 0, n)
	for i := 0; i < n; i += batch {
		list := records(i, batch)
		for k := range list {
			if r := &list[k]; (i+k)%3000 == 11 {
				r.Provider, r.Model = "rare", fmt.Sprint("model-", (i+k)%8)
			}
		}
		f.must(f.store.Import(f.Context(), "spool", list, store.Position{Segment: 1, Offset: int64(i + batch)}))
		for k := range list {
			list[k].Seq = int64(i + k + 1)
		}
		all = append(all, list...)
	}
	check := func() {
		f.Helper()
		for _, filter := range []store.RecordFilter{
			{Provider: "rare"},
			{Provider: "rare", Before: 20_000},
			{Provider: "rare", Model: "model-3"},
			{Key: "key-3", Outcome: "error", Model: "model-1", From: all[len(all)/3].Time},
			{Key: "key-3", Outcome: "error", To: all[len(all)/5].Time},
			{Outcome: "error", Before: 33_000, To: recordTime(33_000)},
			{Key: "none"},
			{To: recordTime(10_600)},
		} {
			var want []int64
			for _, r := range slices.Backward(all) {
				if matches(&filter, &r) && len(want) < 150 {
					want = append(want, r.Seq)
				}
			}
			var got []int64
			for _, r := range f.records(filter, 150) {
				got = append(got, r.Seq)
			}
			f.same(fmt.Sprintf("%+v", filter), got, want)
		}
		for _, k := range []int{9_999, 10_000, 32_766, 32_767, 35_999} {
			want := 0
			if k >= n-len(all) {
				want = 1
			}
			f.same("a request", len(f.records(store.RecordFilter{RequestID: fmt.Sprintf("req-%06d", k)}, 5)), want)
		}
	}
	check()
	f.same("deleted", f.deleteAll(recordTime(10_000), 3000), 10_000)
	all = all[10_000:]
	check()
	f.same("deleted", f.deleteAll(recordTime(34_000), 5000), 24_000)
	all = all[24_000:]
	check()
	f.reopen()
	check()
}
