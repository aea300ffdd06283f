package catalog

import (
	"regexp"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// TestEnv_OP_1: a variable belongs to one vendor, and the model to try is one
// that the vendor's own patterns serve.
func TestEnv_OP_1(t *testing.T) {
	c := mustLoad(t)
	name := regexp.MustCompile(`^[A-Z][A-Z0-9_]*_API_KEY$`)
	whose := map[string]string{}
	for _, id := range c.IDs() {
		v := vendor(t, c, id)
		for _, env := range v.Env {
			if !name.MatchString(env) {
				t.Errorf("%s: %q is no name of a key's variable", id, env)
			}
			if by := whose[env]; by != "" {
				t.Errorf("%s belongs to %s and %s", env, by, id)
			}
			whose[env] = id
		}
		if v.Try == "" {
			continue
		}
		served := false
		for _, p := range v.DefaultPatterns {
			head, tail, star := strings.Cut(p, "*")
			served = served || p == v.Try || star && strings.HasPrefix(v.Try, head) && strings.HasSuffix(v.Try, tail)
		}
		if !served {
			t.Errorf("%s: its patterns do not serve %s", id, v.Try)
		}
	}
	if len(whose) < 12 {
		t.Errorf("%d variables", len(whose))
	}
}

func TestHostedBy(t *testing.T) {
	m, err := LoadModels()
	if err != nil {
		t.Fatal(err)
	}
	if got := m.HostedBy("cerebras"); len(got) == 0 || got[0] != "gpt-oss-120b" {
		t.Errorf("cerebras: %v", got)
	}
	if got := m.HostedBy("openai"); len(got) > 0 {
		t.Errorf("openai is no host: %v", got)
	}
	if got := m.HostedBy(""); len(got) > 0 {
		t.Errorf("nobody: %v", got)
	}
}

func TestLoad_env_goes_with_try(t *testing.T) {
	f := file{ID: "x", Title: "X", Formats: map[llm.Format]formatSpec{"openai-chat": {}}, Env: []string{"X_API_KEY"}}
	if err := f.check(); err == nil || !strings.Contains(err.Error(), "env and try") {
		t.Errorf("%v", err)
	}
}
