package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The little of HTTP/1.1 that reading an answer takes. It is a copy of what
// the load generator has: the floor must not depend on the module under test.

type head struct {
	status        int
	contentLength int64
	chunked       bool
	close         bool
}

var errMalformed = errors.New("malformed HTTP message")

func readHead(r *bufio.Reader, h *head) error {
	*h = head{contentLength: -1}
	line, err := readLine(r)
	if err != nil {
		return err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return fmt.Errorf("%w: status line %q", errMalformed, line)
	}
	h.close = line[7] == '0'
	if h.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return fmt.Errorf("%w: status line %q", errMalformed, line)
	}
	for {
		line, err := readLine(r)
		if err != nil {
			return unexpected(err)
		}
		if len(line) == 0 {
			break
		}
		if err := h.header(line); err != nil {
			return err
		}
	}
	if !h.chunked && h.contentLength < 0 {
		return fmt.Errorf("%w: a body of no known length", errMalformed)
	}
	return nil
}

func (h *head) header(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return fmt.Errorf("%w: header line %q", errMalformed, line)
	}
	value = bytes.TrimSpace(value)
	var err error
	switch len(name) { // cheap filter before the case-insensitive compares
	case len("Content-Length"):
		if is(name, "content-length") {
			h.contentLength, err = strconv.ParseInt(string(value), 10, 64)
		}
	case len("Transfer-Encoding"):
		if is(name, "transfer-encoding") {
			h.chunked = is(value, "chunked")
		}
	case len("Connection"):
		if is(name, "connection") {
			h.close = is(value, "close") || h.close && !is(value, "keep-alive")
		}
	}
	return err
}

func is(b []byte, lower string) bool { return bytes.EqualFold(b, []byte(lower)) }

func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// eachPart hands the decoded bytes of a body to fn as they arrive. The slice
// is only valid during the call.
func eachPart(r *bufio.Reader, h *head, fn func([]byte) error) error {
	if !h.chunked {
		return eachOf(r, h.contentLength, fn)
	}
	for {
		line, err := readLine(r)
		if err != nil {
			return unexpected(err)
		}
		hex, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseInt(string(bytes.TrimSpace(hex)), 16, 64)
		if err != nil {
			return fmt.Errorf("%w: chunk size %q", errMalformed, line)
		}
		if err := eachOf(r, n, fn); err != nil {
			return err
		}
		if line, err = readLine(r); err != nil {
			return unexpected(err)
		}
		if len(line) != 0 { // also after the last chunk: no mock sends trailers
			return fmt.Errorf("%w: chunk longer than its size", errMalformed)
		}
		if n == 0 {
			return nil
		}
	}
}

// eachOf hands out exactly n bytes, in the pieces in which they arrive.
func eachOf(r *bufio.Reader, n int64, fn func([]byte) error) error {
	for n > 0 {
		if _, err := r.Peek(1); err != nil {
			return unexpected(err)
		}
		p, err := r.Peek(int(min(n, int64(r.Buffered()))))
		if err != nil {
			return unexpected(err)
		}
		if err := fn(p); err != nil {
			return err
		}
		if _, err := r.Discard(len(p)); err != nil {
			return err
		}
		n -= int64(len(p))
	}
	return nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
