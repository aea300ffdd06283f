package issuer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/interlock-gateway/interlock/internal/auth"
)

// Limits of what a token may say. Nothing is cut, since two holders could look
// the same then: the token is refused.
const (
	maxValue  = 1024 // bytes
	maxGroups = 256
)

// Claims says which claim gives which part of an Identity; an empty one is not
// mapped. A claim is named by its name, or by the path to it inside other
// claims with dots between: a name may have dots itself and is tried first.
type Claims struct {
	// User empty takes sub.
	User           string
	Groups         string
	Agent          string
	Workload       string
	Namespace      string
	ServiceAccount string
	// Labels has a claim for each label.
	Labels map[string]string
}

// object is a JSON object whose values are not read yet. Unlike fields of a
// struct its names are exact: a claim AUD is not the audience.
type object map[string]json.RawMessage

// check checks what a token says of its time and audience, and returns until
// when it is good.
func (o object) check(audience string, now time.Time) (time.Time, error) {
	expires, ok, err := o.time("exp")
	if err != nil {
		return time.Time{}, err
	}
	if !ok {
		return time.Time{}, errors.New("never expires (no claim exp), so it is not accepted")
	}
	expires = expires.Add(leeway)
	if !now.Before(expires) {
		return time.Time{}, fmt.Errorf("expired at %s; get a new token", expires.Add(-leeway).UTC().Format(time.RFC3339))
	}
	begins, ok, err := o.time("nbf")
	if err != nil {
		return time.Time{}, err
	}
	if ok && now.Add(leeway).Before(begins) {
		return time.Time{}, fmt.Errorf("is not valid before %s; check the clocks", begins.UTC().Format(time.RFC3339))
	}
	if !o.isFor(audience) {
		return time.Time{}, errors.New("is not for this gateway: ask an administrator for the audience, and get a token for it")
	}
	return expires, nil
}

// require checks claims that have to have a value. The message does not say
// which: it may be a stranger's token.
func (o object) require(want map[string]string) error {
	for _, claim := range slices.Sorted(maps.Keys(want)) {
		have, err := o.texts(claim)
		if err != nil {
			return err
		}
		if !slices.Contains(have, want[claim]) {
			return fmt.Errorf("is not let in: its claim %q is not the one that is required", claim)
		}
	}
	return nil
}

// time reads a claim in seconds since 1970.
func (o object) time(name string) (at time.Time, ok bool, err error) {
	raw, ok := o[name]
	if !ok {
		return at, false, nil
	}
	var seconds float64
	if json.Unmarshal(raw, &seconds) != nil || string(raw) == "null" || seconds < 0 || seconds >= 1<<40 {
		return at, false, fmt.Errorf("has a claim %s that is no time", name)
	}
	return time.Unix(int64(seconds), 0), true, nil
}

// isFor tells whether the audience, one or a list, has this one.
func (o object) isFor(audience string) bool {
	var one string
	if json.Unmarshal(o["aud"], &one) == nil {
		return one == audience
	}
	var list []string
	return json.Unmarshal(o["aud"], &list) == nil && slices.Contains(list, audience)
}

// find returns a claim by its name or path; nil if it is not there.
func (o object) find(path string) json.RawMessage {
	if v, ok := o[path]; ok {
		if string(v) == "null" {
			return nil
		}
		return v
	}
	for i := strings.LastIndexByte(path, '.'); i > 0; i = strings.LastIndexByte(path[:i], '.') {
		var inner object
		if v, ok := o[path[:i]]; !ok || json.Unmarshal(v, &inner) != nil {
			continue
		}
		if v := inner.find(path[i+1:]); v != nil {
			return v
		}
	}
	return nil
}

// identity maps a token's claims. A mapped claim that is not there leaves its
// part empty, except for the user, of whom everything else hangs.
func (m *Claims) identity(o object) (*auth.Identity, error) {
	id := &auth.Identity{}
	user := m.User
	if user == "" {
		user = "sub"
	}
	for _, f := range []struct {
		claim string
		to    *string
	}{
		{user, &id.User}, {m.Agent, &id.Agent}, {m.Workload, &id.Workload}, {m.Namespace, &id.Namespace}, {m.ServiceAccount, &id.ServiceAccount},
	} {
		var err error
		if *f.to, err = o.text(f.claim); err != nil {
			return nil, err
		}
	}
	if id.User == "" {
		return nil, fmt.Errorf("has no claim %q, which says who the user is", user)
	}
	for _, label := range slices.Sorted(maps.Keys(m.Labels)) {
		v, err := o.text(m.Labels[label])
		if err != nil {
			return nil, err
		}
		if v == "" {
			continue
		}
		if id.Labels == nil {
			id.Labels = map[string]string{}
		}
		id.Labels[label] = v
	}
	var err error
	id.Groups, err = o.texts(m.Groups)
	return id, err
}

// text reads a claim that is one text; empty if it is not mapped or not there.
func (o object) text(claim string) (string, error) {
	if claim == "" {
		return "", nil
	}
	raw := o.find(claim)
	if raw == nil {
		return "", nil
	}
	return plain(claim, raw)
}

// texts reads a claim that is a text or a list of texts.
func (o object) texts(claim string) ([]string, error) {
	if claim == "" {
		return nil, nil
	}
	raw := o.find(claim)
	if raw == nil {
		return nil, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	if len(list) > maxGroups {
		return nil, fmt.Errorf("has %d values in the claim %q; at most %d are read", len(list), claim, maxGroups)
	}
	var out []string
	for _, v := range list {
		s, err := plain(claim, v)
		if err != nil {
			return nil, err
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out, nil
}

// plain reads a value as text that can be shown; numbers and truth values are
// as they are written.
func plain(claim string, raw json.RawMessage) (string, error) {
	s := string(raw)
	switch raw[0] {
	case '"':
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", fmt.Errorf("has a claim %q that can't be read", claim)
		}
	case '{', '[', 'n':
		return "", fmt.Errorf("has a claim %q that is no text", claim)
	}
	if len(s) > maxValue {
		return "", fmt.Errorf("has a claim %q of %d bytes; at most %d are read", claim, len(s), maxValue)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return "", fmt.Errorf("has a claim %q with characters that can't be shown", claim)
		}
	}
	return s, nil
}
