package sqlstore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/interlock-gateway/interlock/internal/store"
)

func zip(tb testing.TB) *zipper {
	tb.Helper()
	z, err := newZipper()
	if err != nil {
		tb.Fatal(err)
	}
	return z
}

// anyRecord draws records whose texts repeat now and then.
func anyRecord(t *rapid.T) store.Record {
	text := rapid.SampledFrom([]string{"", "", "allow", "error", "request", "a", "b", "名前", "x\"y", strings.Repeat("long", 100)})
	r := store.Record{
		Time: time.UnixMicro(rapid.Int64Range(-62135596800000000, math.MaxInt64/2000).Draw(t, "time")).UTC(), Status: rapid.Int().Draw(t, "status"),
		Data: bytes.Repeat([]byte("x"), rapid.SampledFrom([]int{0, 1, 300, 300, 9000}).Draw(t, "size")),
	}
	for _, s := range []*string{&r.RequestID, &r.Kind, &r.Outcome, &r.Code, &r.Key, &r.Team, &r.Model, &r.Route, &r.Provider} {
		*s = text.Draw(t, "text")
	}
	return r
}

// unpackAll reads all records of a pack.
func unpackAll(t rapid.TB, z *zipper, row packRow) []store.Record {
	t.Helper()
	v, err := z.viewAll(row)
	if err != nil {
		t.Fatal(err)
	}
	var out []store.Record
	entries := v.entries()
	for _, f := range v.frames {
		text, err := z.unzip(nil, f.zipped)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries[f.first : f.first+f.records] {
			out = append(out, e.record(string(text[:e.idLen]), text[e.idLen:e.idLen+e.dataLen]))
			text = text[e.idLen+e.dataLen:]
		}
	}
	return out
}

func same(t rapid.TB, got, want []store.Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range got {
		if len(want[i].Data) == 0 {
			want[i].Data = nil
		}
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("record %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

// TestPackReadsBack: what goes into a pack comes out, also of packs that were
// joined from others and had records taken out.
func TestPackReadsBack(t *testing.T) {
	z := zip(t)
	rapid.Check(t, func(t *rapid.T) {
		seq := rapid.Int64Range(0, 1<<50).Draw(t, "pack") * packSize
		joined := newPacker(z, seq, packSize)
		var want []store.Record
		for range rapid.IntRange(1, 5).Draw(t, "packs") {
			part := newPacker(z, seq, rapid.IntRange(1, 100).Draw(t, "expected"))
			var records []store.Record
			few := []store.Record{anyRecord(t), anyRecord(t), anyRecord(t)}
			gap := rapid.Int64Range(0, 1).Draw(t, "gap")
			for i := range rapid.IntRange(1, 90).Draw(t, "records") {
				seq += gap
				r := few[i*i%len(few)]
				r.Status += i
				if i%9 == 5 {
					r.Key, r.Time = fmt.Sprint("key-", i), r.Time.Add(time.Duration(i*i%500)*time.Second)
				}
				r.Seq = seq
				part.add(seq, &r)
				records = append(records, r)
				seq++
			}
			cols, data := part.done()
			row := packRow{seq: records[0].Seq, cols: cols, data: data}
			same(t, unpackAll(t, z, row), records)
			v, err := z.viewAll(row)
			if err != nil {
				t.Fatal(err)
			}
			var drop []bool
			if rapid.Bool().Draw(t, "drops") {
				drop = rapid.SliceOfN(rapid.Bool(), v.n, v.n).Draw(t, "drop")
			}
			if err := joined.take(v, drop); err != nil {
				t.Fatal(err)
			}
			for i, r := range records {
				if drop == nil || !drop[i] {
					want = append(want, r)
				}
			}
		}
		if len(want) == 0 {
			return
		}
		cols, data := joined.done()
		same(t, unpackAll(t, z, packRow{seq: want[0].Seq, cols: cols, data: data}), want)
		oldest := slices.MinFunc(want, func(a, b store.Record) int { return a.Time.Compare(b.Time) })
		newest := slices.MaxFunc(want, func(a, b store.Record) int { return a.Time.Compare(b.Time) })
		if joined.minTime != oldest.Time.UnixMicro() || joined.maxTime != newest.Time.UnixMicro() {
			t.Fatalf("times are from %d to %d", joined.minTime, joined.maxTime)
		}
	})
}

// TestPackFramesAreTakenOver: a pack that is joined from larger ones is not
// compressed again.
func TestPackFramesAreTakenOver(t *testing.T) {
	z := zip(t)
	joined := newPacker(z, 0, packSize)
	var zipped [][]byte
	for i := range int64(4) {
		p := newPacker(z, i*100, 100)
		for k := range int64(100) {
			p.add(i*100+k, &store.Record{Kind: "request", Data: fmt.Appendf(nil, `{"n":%d}`, k)})
		}
		cols, data := p.done()
		v, err := z.viewAll(packRow{seq: i * 100, cols: cols, data: data})
		if err != nil || len(v.frames) != 2 || v.frames[0].records != 50 {
			t.Fatalf("%+v, %v", v.frames, err)
		}
		zipped = append(zipped, data)
		if err := joined.take(v, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, data := joined.done(); !bytes.Equal(data, bytes.Join(zipped, nil)) {
		t.Error("frames were compressed again")
	}
}

// TestDamagedPack: whatever is stored there instead is an error, never a panic
// or another record.
func TestDamagedPack(t *testing.T) {
	z := zip(t)
	p := newPacker(z, 0, 100)
	for k := range int64(100) {
		p.add(k, &store.Record{Kind: "request", Key: fmt.Sprint(k), RequestID: fmt.Sprint(k), Data: json.RawMessage(strings.Repeat("data", 9))})
	}
	cols, data := p.done()
	raw, err := z.unzip(nil, cols)
	if err != nil {
		t.Fatal(err)
	}
	read := func(row packRow) error {
		v, err := z.viewAll(row)
		if err != nil {
			return err
		}
		key := int64(5)
		v.match(&wanted{texts: []wantedText{{colKey, "7"}}, requestID: "7", from: &key, before: 40})
		g := groupWords{}
		g.add(v)
		return newPacker(z, 0, 100).take(v, make([]bool, 100))
	}
	if err := read(packRow{cols: cols, data: data}); err != nil {
		t.Fatal(err)
	}
	for i := range raw { // as if the program that wrote it had a fault
		bad := bytes.Clone(raw)
		for _, c := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			bad[i] = c
			if err := read(packRow{cols: z.append(nil, bad), data: data}); err != nil && !errors.Is(err, store.ErrUnavailable) {
				t.Fatal(err)
			}
		}
		_ = read(packRow{cols: z.append(nil, raw[:i]), data: data})
	}
	var texts [][]byte
	v, err := z.viewAll(packRow{cols: cols, data: data})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range v.frames {
		text, err := z.unzip(nil, f.zipped)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	for i := range data { // as if the disk had
		bad := bytes.Clone(data)
		bad[i] ^= 0x40
		v, err := z.viewAll(packRow{cols: cols, data: bad})
		if err != nil {
			t.Fatal(err)
		}
		for k, f := range v.frames {
			if got, err := z.unzip(nil, f.zipped); err == nil && !bytes.Equal(got, texts[k]) {
				t.Errorf("byte %d makes another text: %s", i, got)
			}
		}
	}
}

// TestWordsLeadToRecords: the places of words are those of the records that
// have them.
func TestWordsLeadToRecords(t *testing.T) {
	z := zip(t)
	g := groupWords{}
	const base = 7 * groupSize * packSize
	want := map[uint64][]int{}
	for pack := range int64(3) {
		p := newPacker(z, base+pack*packSize, packSize)
		for k := int64(0); k < packSize; k += 1 + pack {
			place := int(pack*packSize + k)
			r := store.Record{Kind: "request", Outcome: "allow", Key: fmt.Sprint("key-", k%300), Model: "m", Provider: fmt.Sprint("p", k%2)}
			if k%50 == 0 {
				r.Outcome = "error"
				want[word(colOutcome, "error")] = append(want[word(colOutcome, "error")], place)
				want[word(failedKey, r.Key)] = append(want[word(failedKey, r.Key)], place)
			}
			for _, w := range []uint64{word(colKey, r.Key), word(colModel, "m"), word(colProvider, r.Provider)} {
				want[w] = append(want[w], place)
			}
			p.add(base+int64(place), &r)
		}
		cols, _ := p.done()
		v, err := z.view(base+pack*packSize, cols)
		if err != nil {
			t.Fatal(err)
		}
		g.add(v)
	}
	parts := g.parts()
	for w, places := range want {
		if got := unpack(placesOf(parts[wordPart(w)], w)); !slices.Equal(got, places) {
			t.Errorf("the places of %x are %v, want %v", w, got, places)
		}
	}
	if len(g) != len(want) {
		t.Errorf("there are %d words, want %d", len(g), len(want))
	}
	if got := placesOf(parts[wordPart(5)], 5); got != nil {
		t.Errorf("an unknown word has places: %v", got)
	}
	for _, part := range [][]byte{nil, {0}, {0, 0, 0, 9, 1}, bytes.Repeat([]byte{0xff}, 100)} {
		if got := placesOf(part, 5); got != nil {
			t.Errorf("%v in a damaged part", got)
		}
	}
	of := func(w uint64) []byte { return placesOf(parts[wordPart(w)], w) }
	for _, tc := range []struct {
		words [][]byte
		want  uint64
	}{
		{nil, math.MaxUint64},
		{[][]byte{of(word(colModel, "m"))}, 0b111},
		{[][]byte{of(word(colModel, "m")), nil}, 0},
		{[][]byte{of(word(colModel, "m")), of(word(colKey, "key-1")), of(word(colProvider, "p1"))}, 0b001},
		{[][]byte{of(word(colKey, "key-1")), of(word(colProvider, "p0"))}, 0},
	} {
		if got := common(tc.words); got != tc.want {
			t.Errorf("got %b, want %b", got, tc.want)
		}
	}
}
