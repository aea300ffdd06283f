package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
	"github.com/interlock-gateway/interlock/internal/resource"
	"github.com/interlock-gateway/interlock/internal/secret"
)

// standIns give secret references values of the right form where there are no
// secrets, as in CI: whatever checks values then finds only what is wrong with
// the configuration itself. References must be learned before they are
// resolved.
type standIns struct {
	// dir is where relative paths of references start.
	dir        string
	env, files map[string]string
}

func newStandIns(dir string) *standIns {
	return &standIns{dir: dir, env: map[string]string{}, files: map[string]string{}}
}

// any value that nothing has a wish for.
const standIn = "sk-ant-stands-in-for-a-secret"

// options load a configuration file, and what it names, through read. The
// references are resolved only if resolve says so; else they are stood in for:
// all documents are read before the first of them is needed.
func (s *standIns) options(path string, read func(string) ([]byte, error), resolve bool) config.Options {
	o := config.Options{Path: path, ReadFile: func(path string) ([]byte, error) {
		v, isSecret := s.files[path]
		switch {
		case isSecret && resolve:
			return secret.ReadFile(path, secret.MaxBytes+2)
		case isSecret:
			return []byte(v), nil
		}
		src, err := read(path)
		if err == nil {
			s.learnFile(path, src)
		}
		return src, err
	}}
	if !resolve {
		o.LookupEnv = s.lookupEnv
	}
	return o
}

// learn notes what the secrets of an object have to look like.
func (s *standIns) learn(o resource.Object) {
	for _, r := range resource.SecretRefs(o) {
		value := standIn
		if o.Head().Kind == "Key" && r.Path == "secret" {
			sum := sha256.Sum256([]byte(r.Ref)) // two keys may not share a secret
			value = "ilk_stands_in_" + hex.EncodeToString(sum[:12])
		}
		s.note(r.Ref, value)
	}
}

// note gives a reference a value. What two objects share has to satisfy both,
// which is checked: the first value stays.
func (s *standIns) note(ref, value string) {
	known, key := s.env, strings.TrimPrefix(ref, "env:")
	if path, ok := strings.CutPrefix(ref, "file:"); ok {
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.dir, path)
		}
		known, key = s.files, path
	}
	if _, there := known[key]; !there {
		known[key] = value
	}
}

// lookupEnv stands in for the environment, where everything is set.
func (s *standIns) lookupEnv(name string) (string, bool) {
	if v, ok := s.env[name]; ok {
		return v, true
	}
	return standIn, true
}

// readFile stands in for files with secrets.
func (s *standIns) readFile(path string) ([]byte, error) {
	if v, ok := s.files[path]; ok {
		return []byte(v), nil
	}
	return []byte(standIn), nil
}

// learnFile learns the references of a file that is being read.
func (s *standIns) learnFile(name string, src []byte) {
	docs, _ := yamldoc.Parse(name, src) // problems are the reader's to report
	for _, d := range docs {
		if o := objectOf(d); o != nil {
			s.learn(o)
			continue
		}
		settings := config.Default()
		d.Decode(settings, "", nil)
		for _, ref := range append(settings.Auth.AdminTokens, settings.Auth.OIDC.ClientSecret) {
			s.note(ref, standIn)
		}
		for i := range settings.Resources.Inline {
			if o := objectOf(&settings.Resources.Inline[i]); o != nil {
				s.learn(o)
			}
		}
	}
}

// objectOf reads a document as far as it can be read; nil if it is no resource.
func objectOf(d *yamldoc.Doc) resource.Object {
	name, _ := d.Text("kind")
	kind, ok := resource.FindKind(name)
	if !ok {
		return nil
	}
	o := kind.New()
	d.Decode(o, "", kind.ReadOnlyFields())
	o.Head().Kind = kind.Name
	return o
}
