package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
)

func retentionTests() []test {
	return []test{
		{"OP-12: at most limit records that are older go", deletes},
		{"OP-12: what is left is found, what is gone is not", deletesFromLists},
		{"OP-12: numbers are not used again", func(f *fixture) {
			f.fill(5)
			n, err := f.store.DeleteBefore(f.Context(), recordTime(100), 100)
			f.must(err)
			f.same("deleted", n, 5)
			f.reopen()
			f.must(f.store.Import(f.Context(), "spool", records(5, 1), store.Position{Segment: 2}))
			f.same("the next number", f.records(store.RecordFilter{}, 1)[0].Seq, int64(6))
		}},
		{"OP-12: a record that came late goes by its own time", func(f *fixture) {
			f.fill(600)
			f.must(f.store.Import(f.Context(), "late", records(3, 2), store.Position{Offset: 1}))
			f.same("deleted", f.deleteAll(recordTime(5), 2), 7)
			f.same("the newest", f.numbers(f.records(store.RecordFilter{}, 2)), []int{599, 598})
		}},
	}
}

// deleteAll calls DeleteBefore until it is done.
func (f *fixture) deleteAll(t time.Time, limit int) (total int) {
	f.Helper()
	for {
		n, err := f.store.DeleteBefore(f.Context(), t, limit)
		f.must(err)
		total += n
		if n < limit {
			return total
		}
	}
}

func deletes(f *fixture) {
	f.fill(1500)
	for _, limit := range []int{0, -1} {
		n, err := f.store.DeleteBefore(f.Context(), recordTime(1400), limit)
		f.must(err)
		f.same("deleted without a limit", n, 0)
	}
	for _, want := range []int{1, 600, 400, 99, 0} {
		n, err := f.store.DeleteBefore(f.Context(), recordTime(1100), max(want, 1))
		f.must(err)
		f.same("deleted", n, want)
	}
	f.same("left", len(f.records(store.RecordFilter{}, 2000)), 400)
	f.same("the oldest", f.numbers(f.records(store.RecordFilter{To: recordTime(1102)}, 10)), []int{1101, 1100})
}

func deletesFromLists(f *fixture) {
	f.fill(1500)
	f.same("deleted", f.deleteAll(recordTime(1030), 100), 1030)
	for _, filter := range []store.RecordFilter{{}, {Provider: "provider-1"}, {Key: "key-2"}, {Outcome: "error"}, {From: recordTime(0)}, {Model: "model-1", To: recordTime(1400)}} {
		var want []int
		for i, r := range slices.Backward(records(0, 1500)) {
			r.Seq = int64(i + 1)
			if i >= 1030 && matches(&filter, &r) {
				want = append(want, i)
			}
		}
		f.same(fmt.Sprintf("%+v", filter), f.numbers(f.records(filter, 2000)), want)
	}
	f.same("a request that is gone", len(f.records(store.RecordFilter{RequestID: "req-000005"}, 5)), 0)
}
