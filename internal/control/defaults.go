package control

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// defaultsOf are the fields that an answer shows although the object leaves
// them out, in the order in which they are shown.
func defaultsOf(kind string) []member {
	var out []member
	add := func(name, value string) { out = append(out, member{name, json.RawMessage(value)}) }
	add("enabled", "true")
	switch kind {
	case "Provider":
		add("residency", `"global"`)
		add("dataHandling", `{}`)
		add("timeouts", `{}`)
		add("drained", "false")
		add("allowInsecure", "false")
		add("http2", "false")
		add("maxConcurrent", "0")
		add("healthProbe", `{}`)
	case "Route":
		add("strategy", `{"type":"failover"}`)
		add("allowCrossProvider", "false")
		add("switchFamilyOnQuota", "true")
		add("orgKeyFallbackForCallerCredentials", "false")
		add("onLoss", `"allow"`)
	case "Key":
		add("pii", `"off"`)
	case "Model":
		add("modality", `"chat"`)
	case "Settings":
		add("globalPassthrough", "false")
		add("globalModelAllowlist", "[]")
		add("requireDataHandling", `{}`)
		add("residencies", "[]")
		add("piiDefault", `"off"`)
		add("unknownModelStatus", "503")
		add("allowAnonymousPassthrough", "false")
	}
	return out
}

// Defaults of parts of objects.
const (
	defaultConnectMs        = 5_000
	defaultResponseHeaderMs = 120_000
	defaultStreamIdleMs     = 120_000
)

func timeoutDefaults() []member {
	number := func(n int) json.RawMessage { return json.RawMessage(strconv.Itoa(n)) }
	return []member{
		{"connectMs", number(defaultConnectMs)},
		{"responseHeaderMs", number(defaultResponseHeaderMs)},
		{"streamIdleMs", number(defaultStreamIdleMs)},
		{"totalMs", number(0)},
	}
}

func dataHandlingDefaults() []member {
	return []member{{"zeroDataRetention", json.RawMessage("false")}, {"noPromptTraining", json.RawMessage("false")}}
}

func healthProbeDefaults() []member { return []member{{"enabled", json.RawMessage("false")}} }

func memberDefaults() []member {
	return []member{{"weight", json.RawMessage("1")}, {"priority", json.RawMessage("0")}, {"fallbackOnly", json.RawMessage("false")}}
}

// withDefaults shows the spec of an object with the defaults of what it leaves
// out, and with the read-only fields of a route's members.
func (o *Object) withDefaults(kind string, spec json.RawMessage) (members, error) {
	all, err := readMembers(spec)
	if err != nil {
		return nil, err
	}
	all = all.fill(defaultsOf(kind))
	for i := range all {
		switch kind + "." + all[i].name {
		case "Provider.timeouts":
			all[i].value, err = filled(all[i].value, timeoutDefaults())
		case "Provider.healthProbe":
			all[i].value, err = filled(all[i].value, healthProbeDefaults())
		case "Provider.dataHandling", "Key.dataHandling", "Settings.requireDataHandling":
			all[i].value, err = filled(all[i].value, dataHandlingDefaults())
		case "Settings.residencies":
			all[i].value, err = allResidencies(all[i].value)
		case "Key.providerCredential":
			all[i].value, err = o.showCredential(all[i].value)
		case "Route.members":
			all[i].value, err = o.showMembers(all[i].value)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// filled shows a part of an object with its defaults.
func filled(part json.RawMessage, defaults []member) (json.RawMessage, error) {
	m, err := readMembers(part)
	if err != nil {
		return nil, err
	}
	return m.fill(defaults).json(), nil
}

// allResidencies shows the residencies that the settings add after those that
// need no setting.
func allResidencies(own json.RawMessage) (json.RawMessage, error) {
	var list []string
	if err := json.Unmarshal(own, &list); err != nil {
		return nil, err
	}
	return json.Marshal(append(resource.BuiltinResidencies(), addedResidencies(list)...))
}

// addedResidencies are those of a list that need the setting.
func addedResidencies(list []string) []string {
	var out []string
	for _, r := range list {
		if !slices.Contains(resource.BuiltinResidencies(), r) {
			out = append(out, r)
		}
	}
	return out
}

// showCredential shows a virtual key's credential without its secret.
func (o *Object) showCredential(raw json.RawMessage) (json.RawMessage, error) {
	shown, err := readMembers(raw)
	if err != nil || o.Credential == nil {
		return raw, err
	}
	shown, err = shown.also(o.Credential)
	return shown.json(), err
}

// showMembers shows the members of a route.
func (o *Object) showMembers(raw json.RawMessage) (json.RawMessage, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for i := range list {
		var m resource.Member
		if err := json.Unmarshal(list[i], &m); err != nil {
			return nil, err
		}
		shown, err := readMembers(list[i])
		if err != nil {
			return nil, err
		}
		shown = shown.fill(memberDefaults())
		if mode := o.Modes[m.Provider]; mode != "" {
			shown = append(shown, member{"credentialMode", json.RawMessage(`"` + mode + `"`)})
		}
		if state, known := o.States[m.Provider]; known {
			if shown, err = shown.also(state); err != nil {
				return nil, err
			}
		}
		list[i] = shown.json()
	}
	return json.Marshal(append([]json.RawMessage{}, list...))
}

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members are a JSON object whose order stays.
type members []member

func readMembers(raw json.RawMessage) (members, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var out members
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string) // a key is a text
		m := member{name: name}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// also adds the fields of a value.
func (m members) also(v any) (members, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	more, err := readMembers(raw)
	return append(m, more...), err
}

// fill adds members that are not there.
func (m members) fill(more []member) members {
	there := make(map[string]bool, len(m))
	for i := range m {
		there[m[i].name] = true
	}
	for _, d := range more {
		if !there[d.name] {
			m = append(m, d)
		}
	}
	return m
}

func (m members) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m[i].name)
		if err != nil {
			continue // a text can be marshaled
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(m[i].value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// leaveOutDefaults takes out what only repeats a default, so that what a GET
// showed can be sent back and changes nothing.
func leaveOutDefaults(o resource.Object) {
	unset(&o.Head().Enabled, true)
	switch o := o.(type) {
	case *resource.Provider:
		blank(&o.Residency, "global")
		if t := o.Timeouts; t != nil {
			unset(&t.ConnectMs, defaultConnectMs)
			unset(&t.ResponseHeaderMs, defaultResponseHeaderMs)
			unset(&t.StreamIdleMs, defaultStreamIdleMs)
			unset(&t.TotalMs, 0)
			if *t == (resource.Timeouts{}) {
				o.Timeouts = nil
			}
		}
		none(&o.DataHandling)
		none(&o.HealthProbe)
	case *resource.Route:
		for i := range o.Members {
			unset(&o.Members[i].Weight, 1)
		}
		if s := o.Strategy; s != nil && (s.Type == "failover" || s.Type == "") && *s == (resource.Strategy{Type: s.Type}) {
			o.Strategy = nil
		}
		unset(&o.SwitchFamilyOnQuota, true)
		blank(&o.OnLoss, "allow")
	case *resource.Key:
		none(&o.DataHandling)
		blank(&o.PII, "off")
	case *resource.Model:
		blank(&o.Modality, "chat")
	case *resource.Settings:
		o.Residencies = addedResidencies(o.Residencies)
		none(&o.RequireDataHandling)
		blank(&o.PIIDefault, "off")
		blank(&o.UnknownModelStatus, 503)
	}
}

// none makes a part nil that says nothing.
func none[T comparable](part **T) {
	var zero T
	unset(part, zero)
}

// unset makes a field nil that has its default.
func unset[T comparable](field **T, value T) {
	if *field != nil && **field == value {
		*field = nil
	}
}

// blank makes a field empty that has its default.
func blank[T comparable](field *T, value T) {
	if *field == value {
		var zero T
		*field = zero
	}
}

// sameButDefaults tells whether two objects differ at most in defaults that
// one of them writes out.
func sameButDefaults(a, b resource.Object) bool {
	plain := func(o resource.Object) []byte {
		c, err := clone(o)
		if err != nil {
			return nil
		}
		leaveOutDefaults(c)
		j, err := json.Marshal(c)
		if err != nil {
			return nil
		}
		return j
	}
	x, y := plain(a), plain(b)
	return x != nil && bytes.Equal(x, y)
}
