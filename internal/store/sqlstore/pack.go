package sqlstore

import (
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/interlock-gateway/interlock/internal/store"
)

// Audit records are stored in packs: the records of packSize neighbouring
// numbers, their searched columns apart from their texts. Columns are decoded
// to find out which records a search wants, texts only of what it wants. That
// is why storing a record costs a few microseconds, where a row with its
// indexes costs some thirty, and a tenth of the space.
//
// The sizes are in stored data and cannot change without a migration.
const (
	packSize  = 512
	groupSize = 64 // packs of a group, which has one word of bits for them
)

// The texts of a pack are compressed in frames, which can be read one by one
// and be taken over into another pack as they are.
const (
	frameRecords = 64
	frameBytes   = 128 << 10
	// smallRecords and smallBytes are what a frame has that is too small to be
	// taken over.
	smallRecords = 32
	smallBytes   = 64 << 10
)

// maxText is more than a text can have.
const maxText = 1 << 30

func packOf(seq int64) int64  { return seq / packSize }
func groupOf(seq int64) int64 { return seq / (packSize * groupSize) }

// packFormat is the first byte of the columns of a pack.
const packFormat = 1

// The columns of texts. New ones go to the end.
const (
	colKind = iota
	colOutcome
	colCode
	colKey
	colTeam
	colModel
	colRoute
	colProvider
	colRequest // the first characters of the request id
	textColumns
)

// idPrefix is how many characters of a request id lead to its pack: those of a
// ULID that change every half minute.
const idPrefix = 7

func requestPrefix(id string) string { return id[:min(len(id), idPrefix)] }

// requestHash tells the request ids of a pack apart, but for a few.
func requestHash(id string) uint16 {
	h := hashText(0, id)
	return uint16(h ^ h>>16 ^ h>>32 ^ h>>48)
}

// hashText is FNV-1a of a byte and a text. It is in stored data.
func hashText(field byte, text string) uint64 {
	const prime = 1099511628211
	h := (14695981039346656037 ^ uint64(field)) * prime
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * prime
	}
	return h
}

// textColumn has each of its texts once.
type textColumn struct {
	values []string
	ids    []uint16
	index  map[string]uint16
}

func (c *textColumn) add(s string) {
	if n := len(c.ids); n > 0 && c.values[c.ids[n-1]] == s {
		c.ids = append(c.ids, c.ids[n-1])
		return
	}
	id, ok := c.index[s]
	if !ok {
		if c.index == nil {
			c.index = map[string]uint16{}
		}
		id = uint16(len(c.values))
		c.index[s] = id
		c.values = append(c.values, s)
	}
	c.ids = append(c.ids, id)
}

// entry is what a pack has of a record besides its texts.
type entry struct {
	seq, time, status int64
	texts             [textColumns]string
	hash              uint16
	idLen, dataLen    int // in the texts: the request id, then the data
}

// packer makes a pack of records that come in the order of their numbers.
type packer struct {
	zip      *zipper
	perFrame int

	n                int
	base             int64
	minTime, maxTime int64
	last             entry
	seqs, times      []byte
	statuses         []byte
	columns          [textColumns]textColumn
	hashes           []byte
	lengths          []byte

	frames, data []byte
	pending      []byte // texts of a frame that is not complete
	waiting      int    // records in it
}

// newPacker makes a packer for the pack of a number. n is how many records it
// is expected to get; they are spread evenly over frames.
func newPacker(zip *zipper, seq int64, n int) *packer {
	frames := max(1, (n+frameRecords-1)/frameRecords)
	p := &packer{zip: zip, base: packOf(seq) * packSize, perFrame: max(1, (n+frames-1)/frames), pending: zip.buffer()}
	for i := range p.columns {
		p.columns[i].ids = make([]uint16, 0, n)
	}
	return p
}

// add takes a record.
func (p *packer) add(seq int64, r *store.Record) {
	p.addEntry(&entry{
		seq: seq, time: r.Time.UnixMicro(), status: int64(r.Status),
		texts: [textColumns]string{r.Kind, r.Outcome, r.Code, r.Key, r.Team, r.Model, r.Route, r.Provider, requestPrefix(r.RequestID)},
		hash:  requestHash(r.RequestID), idLen: len(r.RequestID), dataLen: len(r.Data),
	})
	p.pending = append(append(p.pending, r.RequestID...), r.Data...)
	p.wait()
}

func (p *packer) addEntry(e *entry) {
	if p.n == 0 {
		p.last.seq, p.minTime, p.maxTime = p.base-1, e.time, e.time
	}
	p.n++
	p.minTime, p.maxTime = min(p.minTime, e.time), max(p.maxTime, e.time)
	p.seqs = binary.AppendUvarint(p.seqs, uint64(e.seq-p.last.seq-1))
	p.times = binary.AppendVarint(p.times, e.time-p.last.time)
	p.statuses = binary.AppendVarint(p.statuses, e.status)
	for i := range p.columns {
		p.columns[i].add(e.texts[i])
	}
	p.hashes = binary.LittleEndian.AppendUint16(p.hashes, e.hash)
	p.lengths = binary.AppendUvarint(binary.AppendUvarint(p.lengths, uint64(e.idLen)), uint64(e.dataLen))
	p.last.seq, p.last.time = e.seq, e.time
}

// wait counts a record whose texts are pending.
func (p *packer) wait() {
	p.waiting++
	if p.waiting >= p.perFrame || len(p.pending) >= frameBytes {
		p.flush()
	}
}

// flush ends a frame.
func (p *packer) flush() {
	if p.waiting == 0 {
		return
	}
	before := len(p.data)
	p.data = p.zip.append(p.data, p.pending)
	p.frame(p.waiting, len(p.data)-before)
	p.pending, p.waiting = p.pending[:0], 0
	runtime.Gosched() // requests go first
}

func (p *packer) frame(records, size int) {
	p.frames = binary.AppendUvarint(binary.AppendUvarint(p.frames, uint64(records)), uint64(size))
}

// take takes the records of another pack, but for those in drop, if there are
// any.
func (p *packer) take(v *packView, drop []bool) error {
	entries := v.entries()
	if drop == nil {
		drop = make([]bool, v.n)
	}
	for _, f := range v.frames {
		part, dropped := entries[f.first:f.first+f.records], drop[f.first:f.first+f.records]
		whole := !slices.Contains(dropped, true)
		switch {
		case whole && (f.records >= smallRecords || f.bytes >= smallBytes):
			p.flush()
			for i := range part {
				p.addEntry(&part[i])
			}
			p.data = append(p.data, f.zipped...)
			p.frame(f.records, len(f.zipped))
		case whole || slices.Contains(dropped, false):
			if err := p.takeApart(v, &f, part, dropped); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeApart takes records out of a frame.
func (p *packer) takeApart(v *packView, f *frameView, part []entry, dropped []bool) error {
	text, err := v.zip.unzip(nil, f.zipped)
	if err != nil || len(text) != f.bytes {
		return damaged(v.base, err)
	}
	for i := range part {
		e := &part[i]
		n := e.idLen + e.dataLen
		if !dropped[i] {
			p.addEntry(e)
			p.pending = append(p.pending, text[:n]...)
			p.wait()
		}
		text = text[n:]
	}
	return nil
}

// done gives the two stored parts of the pack.
func (p *packer) done() (cols, data []byte) {
	p.flush()
	p.zip.giveBack(p.pending)
	raw := binary.AppendUvarint([]byte{packFormat}, uint64(p.n))
	for _, section := range [][]byte{p.frames, p.seqs, p.times, p.statuses, p.hashes, p.lengths} {
		raw = append(binary.AppendUvarint(raw, uint64(len(section))), section...)
	}
	var section []byte
	for i := range p.columns {
		section = p.columns[i].append(section[:0])
		raw = append(binary.AppendUvarint(raw, uint64(len(section))), section...)
	}
	return p.zip.append(nil, raw), p.data
}

// append writes the texts of a column and, unless there is only one, which of
// them each record has: in a byte, or two if there are more than 256.
func (c *textColumn) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(c.values)))
	for _, s := range c.values {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	if len(c.values) == 1 {
		return b
	}
	for _, id := range c.ids {
		b = append(b, byte(id))
		if len(c.values) > 256 {
			b = append(b, byte(id>>8))
		}
	}
	return b
}
