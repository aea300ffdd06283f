package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MaxBytes bounds a secret, in bytes.
const MaxBytes = 64 << 10

// ErrMissing says that a reference points to a variable or a file that does
// not exist or is empty.
var ErrMissing = errors.New("missing")

// Options of a Resolver. Zero fields take the operating system's.
type Options struct {
	// LookupEnv looks up an environment variable.
	LookupEnv func(name string) (string, bool)
	// ReadFile reads a file.
	ReadFile func(path string) ([]byte, error)
	// Dir is the folder that relative paths start from; empty means the
	// working directory.
	Dir string
}

// Resolver turns secret references into values. It is safe for concurrent
// use and keeps nothing: each call looks again, so that a rotated secret is
// seen at the next reload.
type Resolver struct{ o Options }

// NewResolver makes a Resolver.
func NewResolver(o Options) *Resolver {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.ReadFile == nil {
		o.ReadFile = readLimited
	}
	return &Resolver{o: o}
}

// Resolve gives the value of env:NAME or file:PATH; anything else is the
// value itself. One line break at the end of a file does not count.
func (r *Resolver) Resolve(ref string) (String, error) {
	var value string
	switch {
	case ref == "":
		return String{}, nil
	case strings.HasPrefix(ref, "env:"):
		name := ref[len("env:"):]
		v, ok := r.o.LookupEnv(name)
		if !ok {
			return String{}, fmt.Errorf("environment variable %s is not set: %w", name, ErrMissing)
		}
		if v == "" {
			return String{}, fmt.Errorf("environment variable %s is empty: %w", name, ErrMissing)
		}
		value = v
	case strings.HasPrefix(ref, "file:"):
		v, err := r.file(ref[len("file:"):])
		if err != nil {
			return String{}, err
		}
		value = v
	default:
		value = ref
	}
	if len(value) > MaxBytes {
		return String{}, fmt.Errorf("%s is longer than %d bytes", describe(ref), MaxBytes)
	}
	return New(value), nil
}

func (r *Resolver) file(path string) (string, error) {
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(r.o.Dir, path)
	}
	b, err := r.o.ReadFile(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("file %s does not exist: %w", full, ErrMissing)
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("file %s may not be read: %w", full, fs.ErrPermission)
	case err != nil:
		return "", fmt.Errorf("read file %s: %w", full, err)
	}
	v := strings.TrimSuffix(string(b), "\n")
	v = strings.TrimSuffix(v, "\r")
	if v == "" {
		return "", fmt.Errorf("file %s is empty: %w", full, ErrMissing)
	}
	return v, nil
}

// describe names a reference without giving a literal away.
func describe(ref string) string {
	switch {
	case strings.HasPrefix(ref, "env:"):
		return "environment variable " + ref[len("env:"):]
	case strings.HasPrefix(ref, "file:"):
		return "file " + ref[len("file:"):]
	}
	return "the secret"
}

// readLimited reads one byte more than a secret may have, so that a device or
// a huge file is refused without being read whole.
func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the administrator names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, MaxBytes+3))
}
