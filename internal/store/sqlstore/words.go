package sqlstore

import (
	"encoding/binary"
	"slices"
	"sort"
)

// A group of packs has words: hashes of the texts in its searched columns, each
// with the places of the records that have it. They lead a search to the packs
// that have a record with everything that it asks for. Two texts with one hash
// cost a look into a pack, no more; so does a record that was deleted.

// wordParts is how many parts the words of a group are stored in, by their
// upper bits, so that a search reads little of them. It is in stored data.
const wordParts = 64

func wordPart(word uint64) int { return int(word >> 58) }

// failedKey is the field of the word that a key has where a record of it was
// not allowed.
const failedKey = 100

// word is the hash of a text in a column.
func word(field int, text string) uint64 { return hashText(byte(field), text) }

// leads says that looking for a text is worth while: not for what nearly every
// record has.
func leads(column int, text string) bool {
	switch text {
	case "":
		return false
	case "allow":
		return column != colOutcome
	case "request":
		return column != colKind
	}
	return true
}

// places are the places of records in their group, in order: the distances
// between them.
type places struct {
	b    []byte
	last int
}

func (p *places) add(place int) {
	p.b = binary.AppendUvarint(p.b, uint64(place-p.last))
	p.last = place
}

// groupWords collects the words of a group.
type groupWords map[uint64]*places

func (g groupWords) of(w uint64) *places {
	p := g[w]
	if p == nil {
		p = &places{}
		g[w] = p
	}
	return p
}

// add takes the words of a pack, whose numbers come after those of the last.
func (g groupWords) add(v *packView) {
	at := v.places()
	for c := range v.columns {
		values, ids, width := v.column(c)
		words := make([]*places, len(values))
		some := false
		for i, s := range values {
			if leads(c, s) {
				words[i] = g.of(word(c, s))
				some = true
			}
		}
		for i := 0; some && i < len(at); i++ {
			if k := textID(ids, width, i); k < len(words) && words[k] != nil {
				words[k].add(at[i])
			}
		}
	}
	g.addFailed(v, at)
}

// addFailed takes the keys of records that were not allowed.
func (g groupWords) addFailed(v *packView, at []int) {
	outcomes, which, width := v.column(colOutcome)
	keys, whose, keyWidth := v.column(colKey)
	if !slices.ContainsFunc(outcomes, func(s string) bool { return leads(colOutcome, s) }) {
		return
	}
	for i, place := range at {
		if o, k := textID(which, width, i), textID(whose, keyWidth, i); o < len(outcomes) && k < len(keys) && leads(colOutcome, outcomes[o]) && keys[k] != "" {
			g.of(word(failedKey, keys[k])).add(place)
		}
	}
}

// places are the places of a pack's records in their group.
func (v *packView) places() []int {
	at := make([]int, v.n)
	r, seq := reader{rest: v.seqs}, v.base-1-groupOf(v.base)*groupSize*packSize
	for i := range at {
		seq += int64(r.uvarint()) + 1
		at[i] = int(seq)
	}
	return at
}

// wordEntry is the size of what a part has of each word in front: the word, and
// where its places end.
const wordEntry = 12

// parts are the words as they are stored: how many, each with where its places
// end, and the places.
func (g groupWords) parts() (parts [wordParts][]byte) {
	words := make([]uint64, 0, len(g))
	for w := range g {
		words = append(words, w)
	}
	slices.Sort(words)
	for i := range parts {
		n := sort.Search(len(words), func(k int) bool { return wordPart(words[k]) > i })
		b := binary.BigEndian.AppendUint32(nil, uint32(n))
		end := 0
		for _, w := range words[:n] {
			end += len(g[w].b)
			b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, w), uint32(end))
		}
		for _, w := range words[:n] {
			b = append(b, g[w].b...)
		}
		parts[i], words = b, words[n:]
	}
	return parts
}

// placesOf finds the places of a word in the part that it is stored in.
func placesOf(part []byte, w uint64) []byte {
	if len(part) < 4 {
		return nil
	}
	n := int(binary.BigEndian.Uint32(part))
	if n > (len(part)-4)/wordEntry {
		return nil
	}
	list, rest := part[4:4+n*wordEntry], part[4+n*wordEntry:]
	i := sort.Search(n, func(i int) bool { return binary.BigEndian.Uint64(list[i*wordEntry:]) >= w })
	if i == n || binary.BigEndian.Uint64(list[i*wordEntry:]) != w {
		return nil
	}
	end := func(i int) int {
		if i < 0 {
			return 0
		}
		return int(binary.BigEndian.Uint32(list[i*wordEntry+8:]))
	}
	from, to := end(i-1), end(i)
	if from > to || to > len(rest) {
		return nil
	}
	return rest[from:to]
}

// common gives the packs of a group that have a record with all words, whose
// places are given. Without words it gives all packs.
func common(words [][]byte) (packs uint64) {
	if len(words) == 0 {
		return ^uint64(0)
	}
	slices.SortFunc(words, func(a, b []byte) int { return len(a) - len(b) })
	left := unpack(words[0])
	for _, b := range words[1:] {
		if len(left) == 0 {
			return 0
		}
		left = meet(left, b)
	}
	for _, place := range left {
		packs |= 1 << (place / packSize % groupSize)
	}
	return packs
}

// unpack reads places.
func unpack(b []byte) []int {
	out := make([]int, 0, len(b))
	place := 0
	for len(b) > 0 {
		d, n := binary.Uvarint(b)
		if n <= 0 {
			break
		}
		place += int(d)
		b = b[n:]
		out = append(out, place)
	}
	return out
}

// meet leaves of the places in a those that are in b too.
func meet(a []int, b []byte) []int {
	out, at, i := a[:0], 0, 0
	for len(b) > 0 && i < len(a) {
		d, n := uint64(b[0]), 1
		if d >= 0x80 {
			if d, n = binary.Uvarint(b); n <= 0 {
				break
			}
		}
		at += int(d)
		b = b[n:]
		for i < len(a) && a[i] < at {
			i++
		}
		if i < len(a) && a[i] == at {
			out = append(out, at)
			i++
		}
	}
	return out
}
