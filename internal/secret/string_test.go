package secret_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/interlock-gateway/interlock/internal/secret"
)

const planted = "sk-planted-0123456789"

// holder has a secret in an exported and in an unexported field: fmt calls no
// methods on the latter.
type holder struct {
	Public  secret.String
	Pointer *secret.String
	private secret.String
	list    []secret.String
	byName  map[string]secret.String
}

func newHolder() holder {
	s := secret.New(planted)
	return holder{s, &s, s, []secret.String{s}, map[string]secret.String{"k": s}}
}

func TestString_never_shows_its_value(t *testing.T) {
	s := secret.New(planted)
	var shown []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%t", "%10s", "%T"} {
		shown = append(shown,
			fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, newHolder()), fmt.Sprintf(verb, []any{s, newHolder()}),
			fmt.Sprintf(verb, struct{ s secret.String }{s}), fmt.Sprintf(verb, &struct{ s *secret.String }{&s}))
	}
	shown = append(shown, fmt.Sprint(s), fmt.Sprintln(s), s.String(), s.GoString(), fmt.Errorf("x: %v", s).Error(),
		errors.Join(fmt.Errorf("%v", newHolder())).Error())

	for _, v := range []any{s, &s, newHolder(), map[string]any{"s": s}} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		y, err := yaml.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		x, _ := xml.Marshal(v)
		var g bytes.Buffer
		_ = gob.NewEncoder(&g).Encode(v)
		var text, structured bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&structured, nil)).Info("x", "v", v)
		shown = append(shown, string(b), string(y), string(x), g.String(), text.String(), structured.String())
	}
	for _, out := range shown {
		if strings.Contains(out, planted) || strings.Contains(out, fmt.Sprintf("%x", planted)) {
			t.Errorf("shows the value: %s", out)
		}
	}
	if got := fmt.Sprintf("%s %v %q", s, s, s); got != "*** *** ***" {
		t.Errorf("got %s", got)
	}
}

func TestString(t *testing.T) {
	s, zero := secret.New(planted), secret.String{}
	switch {
	case s.Reveal() != planted, zero.Reveal() != "":
		t.Error("Reveal")
	case s.IsZero(), !zero.IsZero(), !secret.New("").IsZero():
		t.Error("IsZero")
	case !s.Equal(secret.New(planted)), s.Equal(zero), s.Equal(secret.New(planted + "x")):
		t.Error("Equal")
	case s.Last4() != "6789", secret.New("short").Last4() != "", zero.Last4() != "":
		t.Error("Last4")
	}
	for _, c := range []struct{ secret, want string }{ // RS-PROV: the last four, of what has at least as many more
		{"1234567", ""}, {"12345678", "5678"}, {"sk-test-12345", "2345"}, {"löseñord", "ñord"}, {"löseñor", ""},
	} {
		if got := secret.New(c.secret).Last4(); got != c.want {
			t.Errorf("%s: %q", c.secret, got)
		}
	}
}
