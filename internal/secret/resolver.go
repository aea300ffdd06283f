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

// What ReadFile refuses: a folder, a pipe or a device, and too much.
var (
	errNotAFile = errors.New("it is not a regular file")
	errTooLong  = errors.New("it is too long")
)

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
		o.ReadFile = func(path string) ([]byte, error) { return ReadFile(path, MaxBytes+2) } // two for a line break
	}
	return &Resolver{o: o}
}

// Error says which reference has no usable value.
type Error struct {
	// Source is the variable or the file.
	Source string
	// Reason is what is wrong with it, such as "is not set".
	Reason string
	// Err is the cause: ErrMissing, or what the system said.
	Err error
}

// Error names the source, never the value.
func (e *Error) Error() string { return e.Source + " " + e.Reason }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Resolve gives the value of env:NAME or file:PATH; anything else is the
// value itself. One line break at the end of a file does not count.
func (r *Resolver) Resolve(ref string) (String, error) {
	source, value, err := r.lookUp(ref)
	if err != nil {
		return String{}, err
	}
	if len(value) > MaxBytes {
		return String{}, &Error{Source: source, Reason: fmt.Sprintf("is longer than %d bytes", MaxBytes)}
	}
	return New(value), nil
}

func (r *Resolver) lookUp(ref string) (source, value string, err error) {
	if name, ok := strings.CutPrefix(ref, "env:"); ok {
		source = "environment variable " + name
		v, ok := r.o.LookupEnv(name)
		switch {
		case !ok:
			return source, "", &Error{source, "is not set", ErrMissing}
		case v == "":
			return source, "", &Error{source, "is empty", ErrMissing}
		}
		return source, v, nil
	}
	if path, ok := r.Path(ref); ok {
		source = "file " + path
		v, err := r.file(source, path)
		return source, v, err
	}
	return "the secret", ref, nil
}

func (r *Resolver) file(source, path string) (string, error) {
	b, err := r.o.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &Error{source, "does not exist", ErrMissing}
	case errors.Is(err, fs.ErrPermission):
		return "", &Error{source, "may not be read by this user", fs.ErrPermission}
	case errors.Is(err, errTooLong):
		return "", &Error{source, fmt.Sprintf("is longer than %d bytes", MaxBytes), err}
	case err != nil:
		return "", &Error{source, "can't be read: " + cause(err).Error(), err}
	}
	v := strings.TrimSuffix(string(b), "\n")
	v = strings.TrimSuffix(v, "\r")
	if v == "" {
		return "", &Error{source, "is empty", ErrMissing}
	}
	return v, nil
}

// cause takes the path off an error of package os: it is named already.
func cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// Path gives the file of a file: reference, from the folder where relative
// paths start; ok is false for any other reference.
func (r *Resolver) Path(ref string) (path string, ok bool) {
	path, ok = strings.CutPrefix(ref, "file:")
	if ok && !filepath.IsAbs(path) {
		path = filepath.Join(r.o.Dir, path)
	}
	return path, ok
}

// ReadFile reads a file that a document names, of at most limit bytes: nobody
// who may write documents can make the process read a device without end.
func ReadFile(path string, limit int64) ([]byte, error) {
	// A pipe or a device could hold the reader for ever.
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotAFile
	}
	f, err := os.Open(path) //nolint:gosec // the administrator names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		return nil, fmt.Errorf("%w: at most %d bytes are read", errTooLong, limit)
	}
	return b, err
}
