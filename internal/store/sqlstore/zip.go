package sqlstore

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// zipper compresses, any number at once.
type zipper struct {
	enc     *zstd.Encoder
	dec     *zstd.Decoder
	buffers sync.Pool
}

// Frames have checksums: a damaged file is an error and not another record.
func newZipper() (*zipper, error) {
	z := &zipper{}
	var err error
	if z.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true)); err != nil {
		return nil, err
	}
	z.dec, err = zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(1<<30))
	return z, err
}

// append compresses a text behind b.
func (z *zipper) append(b, text []byte) []byte { return z.enc.EncodeAll(text, b) }

// unzip appends the text of a frame to b.
func (z *zipper) unzip(b, frame []byte) ([]byte, error) { return z.dec.DecodeAll(frame, b) }

// buffer lends an empty buffer.
func (z *zipper) buffer() []byte {
	if b, ok := z.buffers.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, frameBytes+frameBytes/8)
}

func (z *zipper) giveBack(b []byte) {
	if cap(b) <= 4*frameBytes {
		z.buffers.Put(&b)
	}
}
