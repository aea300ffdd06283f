package sqlstore

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/interlock-gateway/interlock/internal/store"
)

// damaged says that a pack can't be read, which no program of ours wrote so.
func damaged(seq int64, err error) error {
	if err != nil {
		return fmt.Errorf("%w: the audit records from number %d on are damaged: %w", store.ErrUnavailable, seq, err)
	}
	return fmt.Errorf("%w: the audit records from number %d on are damaged", store.ErrUnavailable, seq)
}

// packView reads the columns of a pack.
type packView struct {
	zip    *zipper
	base   int64
	n      int
	frames []frameView // once opened

	framed, seqs, times, statuses, hashes, lengths string
	columns                                        [textColumns]string
}

// frameView is the place of a frame.
type frameView struct {
	first, records int
	bytes          int // when it is unzipped
	zipped         []byte
}

// view opens the columns of a pack.
func (z *zipper) view(seq int64, cols []byte) (*packView, error) {
	buf := z.buffer()
	raw, err := z.unzip(buf, cols)
	if err != nil {
		return nil, damaged(seq, err)
	}
	v := &packView{zip: z, base: packOf(seq) * packSize}
	r := reader{rest: string(raw)}
	z.giveBack(raw)
	if r.rest == "" || r.rest[0] != packFormat {
		return nil, damaged(seq, nil)
	}
	r.rest = r.rest[1:]
	v.n = int(r.uvarint())
	v.framed = r.section()
	v.seqs, v.times, v.statuses, v.hashes, v.lengths = r.section(), r.section(), r.section(), r.section(), r.section()
	for i := range v.columns {
		v.columns[i] = r.section()
	}
	if r.bad || v.n > packSize || len(v.hashes) != 2*v.n {
		return nil, damaged(seq, nil)
	}
	return v, nil
}

// viewAll opens a pack with its texts.
func (z *zipper) viewAll(row packRow) (*packView, error) {
	v, err := z.view(row.seq, row.cols)
	if err != nil {
		return nil, err
	}
	return v, v.open(row.data)
}

// open finds the frames in the texts of a pack.
func (v *packView) open(data []byte) error {
	r, lengths := reader{rest: v.framed}, reader{rest: v.lengths}
	at := 0
	for r.rest != "" && !r.bad {
		f := frameView{first: at, records: int(r.uvarint())}
		size := r.uvarint()
		at += f.records
		if size > uint64(len(data)) || f.records < 0 || at > v.n {
			return damaged(v.base, nil)
		}
		for range 2 * f.records {
			n := lengths.uvarint()
			lengths.bad = lengths.bad || n > maxText
			f.bytes += int(n)
		}
		f.zipped, data = data[:size], data[size:]
		v.frames = append(v.frames, f)
	}
	if r.bad || lengths.bad || at != v.n {
		return damaged(v.base, nil)
	}
	return nil
}

// column gives the texts of a column, and which of them each record has: the
// first if ids is empty, else width bytes for each.
func (v *packView) column(i int) (values []string, ids string, width int) {
	r := reader{rest: v.columns[i]}
	n := int(r.uvarint())
	if n > v.n {
		return nil, "", 0
	}
	values = make([]string, n)
	for i := range values {
		values[i] = r.section()
	}
	width = 1
	if n > 256 {
		width = 2
	}
	if n <= 1 || len(r.rest) != width*v.n {
		return values[:min(n, 1)], "", 0
	}
	return values, r.rest, width
}

// entries are all records without their texts.
func (v *packView) entries() []entry {
	out := make([]entry, v.n)
	seqs, times, statuses, lengths := reader{rest: v.seqs}, reader{rest: v.times}, reader{rest: v.statuses}, reader{rest: v.lengths}
	seq, us := v.base-1, int64(0)
	for i := range out {
		seq += int64(seqs.uvarint()) + 1
		us += times.varint()
		out[i] = entry{
			seq: seq, time: us, status: statuses.varint(), hash: v.hash(i),
			idLen: int(lengths.uvarint()), dataLen: int(lengths.uvarint()),
		}
	}
	for c := range v.columns {
		values, ids, width := v.column(c)
		if len(values) == 0 {
			continue
		}
		for i := range out {
			if k := textID(ids, width, i); k < len(values) {
				out[i].texts[c] = values[k]
			}
		}
	}
	return out
}

func (v *packView) hash(i int) uint16 { return uint16(v.hashes[2*i]) | uint16(v.hashes[2*i+1])<<8 }

// textID is the place of the text of record i.
func textID(ids string, width, i int) int {
	switch width {
	case 0:
		return 0
	case 1:
		return int(ids[i])
	}
	return int(ids[2*i]) | int(ids[2*i+1])<<8
}

// match gives the places of the records that a search wants, the newest first.
func (v *packView) match(f *wanted) []int {
	in := make([]bool, v.n)
	for i := range in {
		in[i] = true
	}
	for _, c := range f.texts {
		values, ids, width := v.column(c.column)
		k := slices.Index(values, c.value)
		if k < 0 {
			return nil
		}
		if width == 0 {
			continue
		}
		for i := range in {
			in[i] = in[i] && textID(ids, width, i) == k
		}
	}
	if f.requestID != "" {
		h := requestHash(f.requestID)
		for i := range in {
			in[i] = in[i] && v.hash(i) == h
		}
	}
	v.matchNumbers(f, in)
	var out []int
	for i, ok := range slices.Backward(in) {
		if ok {
			out = append(out, i)
		}
	}
	return out
}

// matchNumbers takes out what has not the time or the number that is wanted.
func (v *packView) matchNumbers(f *wanted, in []bool) {
	if f.before <= v.base+packSize {
		r, seq := reader{rest: v.seqs}, v.base-1
		for i := range in {
			seq += int64(r.uvarint()) + 1
			in[i] = in[i] && seq < f.before
		}
	}
	if f.from == nil && f.to == nil {
		return
	}
	r, us := reader{rest: v.times}, int64(0)
	for i := range in {
		us += r.varint()
		in[i] = in[i] && (f.from == nil || us >= *f.from) && (f.to == nil || us < *f.to)
	}
}

// reader reads numbers and texts one after the other. It is bad when there was
// less than was asked for.
type reader struct {
	rest string
	bad  bool
}

func (r *reader) uvarint() uint64 {
	var n uint64
	for i := range len(r.rest) {
		c := r.rest[i]
		if i == binary.MaxVarintLen64 {
			break
		}
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.bad, r.rest = true, ""
	return 0
}

func (r *reader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// section reads a text behind its length.
func (r *reader) section() string {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, ""
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}
