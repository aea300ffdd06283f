package routing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-gateway/interlock/internal/llm"
)

// Codes of the steps that say why a member can't serve.
const (
	codeMode        = "credential-mode"
	codeNoKey       = "no-key"
	codeFormat      = "wire-format"
	codeFamily      = "family"
	codeNoWireModel = "no-wire-model"
	codeProvider    = "provider-not-allowed"
	codeResidency   = "residency"
	codeData        = "data-handling"
	codeDrained     = "drained"
	codeDisabled    = "disabled"
	codeWindow      = "context-window"
	codeSameModel   = "other-model"
)

// collect keeps the members that can serve the request, with the credential
// that each is dialled with, and notes why each of the others cannot.
func (d *decision) collect() {
	for _, id := range d.route.Disabled {
		d.p.step(StageMember, codeDisabled, string(id), "its provider is disabled")
	}
	c := &d.in.Query.Caller
	if c.Own {
		d.collectOwn()
		return
	}
	for i := range d.route.Members {
		v := d.route.Members[i].Provider
		switch {
		case c.Virtual != "" && c.Virtual == v.ID:
			d.consider(i, CredentialVirtual, false)
		case !v.OrgKey:
			d.out(codeMode, v, "it has no key of the organisation")
		case d.noKey(v):
			d.out(codeNoKey, v, "the organisation's key can't be read")
		default:
			d.consider(i, CredentialOwn, false)
		}
	}
}

// collectOwn is collect for a caller that brings its own credential: the
// passthrough members take it; the others serve with their own key after
// them, and only if the route lets them (RT-OKF). Under global passthrough the
// first member may take it as well (RT-GP).
func (d *decision) collectOwn() {
	inherits := d.inherits()
	fallback, without := d.route.OrgKeyFallback && d.route.Mixed(), "it has a key of the organisation, and the caller brings its own credential"
	if fallback && inherits < 0 && !slices.ContainsFunc(d.route.Members, d.passes) {
		// Fallback is for failures: without a member that can take the
		// caller's credential the answer is the one with the setting off.
		fallback, without = false, "it serves only after a member that takes the caller's own credential failed, and none can serve"
	}
	for i := range d.route.Members {
		v := d.route.Members[i].Provider
		switch {
		case !v.OrgKey:
			d.consider(i, CredentialCaller, false)
		case i == 0 && d.lost != "":
			d.out(codeWindow, v, d.lost)
		case i == inherits:
			d.p.step(StageMember, CodeGlobalPassthrough, string(v.ID), "it takes the caller's own credential in place of its key")
			d.consider(i, CredentialCaller, false)
		case !fallback:
			d.out(codeMode, v, without)
		case d.noKey(v):
			d.out(codeNoKey, v, "the organisation's key can't be read")
		default:
			d.consider(i, CredentialOwn, true)
		}
	}
}

// noKey tells whether the organisation's key of a provider can't be read, now
// or, in a decision that is made again, then.
func (d *decision) noKey(v *Provider) bool {
	return v.NoKey || slices.Contains(d.in.Assume.NoKey, v.ID)
}

// passes tells whether a member is a passthrough one that can serve.
func (d *decision) passes(m Member) bool {
	if m.Provider.OrgKey {
		return false
	}
	code, _ := d.exclude(m.Provider)
	return code == ""
}

// Mixed tells whether a route has members of both credential modes.
func (r *Route) Mixed() bool {
	org := slices.ContainsFunc(r.Members, func(m Member) bool { return m.Provider.OrgKey })
	return org && slices.ContainsFunc(r.Members, func(m Member) bool { return !m.Provider.OrgKey })
}

// inherits is the place of the member that takes the caller's credential in
// place of its own under global passthrough, or -1: the first one that is
// configured, if the strategy starts on it whatever its health.
func (d *decision) inherits() int {
	q := &d.in.Query
	if !d.s.globalPassthrough || q.Endpoint.Format != llm.AnthropicMessages || len(d.route.Members) == 0 {
		return -1
	}
	first := &d.route.Members[0]
	v := first.Provider
	if v.ID != d.route.First || !v.OrgKey || v.NoPassthrough || first.FallbackOnly {
		return -1
	}
	if code, why := d.exclude(v); code == codeWindow {
		// The client can do something about that, so it is what is said.
		wire, _ := d.wireModel(v)
		d.lost, d.window = why, d.contextWindow(v, wire)
		return -1
	}
	var buf [8]Option
	all := buf[:0]
	for i := range d.route.Members {
		m := d.route.Members[i]
		if code, _ := d.exclude(m.Provider); code == "" && !m.FallbackOnly {
			wire, _ := d.wireModel(m.Provider)
			all = append(all, Option{Member: m, Index: i, WireModel: wire, Credential: CredentialCaller, State: Healthy})
		}
	}
	all = lowestPriority(all)
	if len(all) == 0 || all[0].Index != 0 {
		return -1
	}
	start, why := d.start(all)
	if start != 0 {
		return -1
	}
	d.heir = why
	return 0
}

// lowestPriority keeps the options of the lowest priority group.
func lowestPriority(options []Option) []Option {
	if len(options) == 0 {
		return nil
	}
	low := options[0].Priority
	for _, o := range options {
		low = min(low, o.Priority)
	}
	return slices.DeleteFunc(options, func(o Option) bool { return o.Priority != low })
}

// consider adds a member to the options unless something keeps it from
// serving.
func (d *decision) consider(i int, c Credential, fallback bool) {
	m := d.route.Members[i]
	wire, _ := d.wireModel(m.Provider)
	if code, why := d.exclude(m.Provider); code != "" {
		if code == codeWindow {
			d.window = max(d.window, d.contextWindow(m.Provider, wire))
		}
		d.out(code, m.Provider, why)
		return
	}
	o := Option{Member: m, Index: i, WireModel: wire, Credential: c, Fallback: fallback}
	o.State, o.Until = d.state(&o)
	d.options = append(d.options, o)
}

func (d *decision) out(code string, v *Provider, why string) {
	d.p.step(StageMember, code, string(v.ID), why)
}

// exclude says what keeps a provider from serving, besides the credential
// mode; an empty code if nothing does.
func (d *decision) exclude(v *Provider) (code, why string) {
	q := &d.in.Query
	wire, ok := d.wireModel(v)
	switch {
	case v.Format != q.Endpoint.Format && !slices.Contains(v.Also, q.Endpoint.Format):
		return codeFormat, string(v.Format)
	case !ok:
		return codeNoWireModel, "the alias has no wire model for it"
	case !hosts(d.home, v.Family) && !d.route.CrossProvider:
		return codeFamily, fmt.Sprintf("it is of the family %s and the route of %s, and allowCrossProvider is off", v.Family, d.home)
	case !hosts(d.home, v.Family) && !v.OrgKey:
		return codeFamily, fmt.Sprintf("it is of the family %s and the route of %s, and it has no key of its own", v.Family, d.home)
	case !hosts(d.home, v.Family) && !d.mapped(v):
		return codeFamily, fmt.Sprintf("it is of the family %s and the route of %s, and it has no name of its own for the model", v.Family, d.home)
	}
	if c := q.Caller.Ceilings; c != nil {
		if code, why := c.exclude(v); code != "" {
			return code, why
		}
	}
	if why := v.Data.lacks(d.s.data); why != "" {
		return codeData, why
	}
	if v.Drained {
		return codeDrained, "it takes no new requests"
	}
	// Counting a prompt that is too long is how a client finds out.
	if q.Tokens > 0 && q.Endpoint.Counts {
		if w := d.contextWindow(v, wire); w > 0 && q.Tokens > w+w/10 {
			return codeWindow, fmt.Sprintf("about %d tokens are more than its window of %d", q.Tokens, w)
		}
	}
	return "", ""
}

// exclude says which ceiling keeps a provider from serving.
func (c *Ceilings) exclude(v *Provider) (code, why string) {
	switch {
	case len(c.Providers) > 0 && !slices.Contains(c.Providers, v.ID):
		return codeProvider, "the caller's key allows other providers only"
	case len(c.Residencies) > 0 && !slices.Contains(c.Residencies, v.Residency):
		return codeResidency, fmt.Sprintf("%s, and the caller's key allows %s only", v.Residency, strings.Join(c.Residencies, ", "))
	}
	if why := v.Data.lacks(c.Data); why != "" {
		return codeData, why
	}
	return "", ""
}

// lacks says what a promise lacks of a demand; nothing if it meets it.
func (have DataHandling) lacks(want DataHandling) string {
	switch {
	case want.ZeroDataRetention && !have.ZeroDataRetention:
		return "it does not promise zero data retention"
	case want.NoPromptTraining && !have.NoPromptTraining:
		return "it does not promise to keep prompts out of training"
	case want.Jurisdiction != "" && !strings.EqualFold(want.Jurisdiction, have.Jurisdiction):
		return fmt.Sprintf("its jurisdiction is %q, not %q", have.Jurisdiction, want.Jurisdiction)
	}
	return ""
}

// mapped tells whether a provider has a name of its own for the model.
func (d *decision) mapped(v *Provider) bool {
	_, ok := v.WireModels[d.lower]
	return ok || d.alias != nil
}

// longContext is the window that a client can ask for where the catalogue has a
// smaller one: Anthropic's beta context-1m.
const longContext = 1_000_000

// contextWindow is a provider's window for a model in tokens; 0 is unknown.
func (d *decision) contextWindow(v *Provider, wire string) int {
	if len(v.Windows) > 0 {
		if w, ok := v.Windows[strings.ToLower(wire)]; ok {
			return w
		}
		if w, ok := v.Windows[d.lower]; ok {
			return w
		}
	}
	w := d.models.Model(v.Vendor, wire).Window
	if w > 0 && d.in.Query.LongContext {
		return max(w, longContext)
	}
	return w
}

// state is the health of an option. What the organisation's credential ran
// into says nothing about another one.
func (d *decision) state(o *Option) (State, time.Time) {
	id, now := o.Provider.ID, d.in.Facts.Now
	if slices.Contains(d.in.Assume.Down, id) {
		return Open, time.Time{}
	}
	if slices.Contains(d.in.Assume.Parked, id) {
		return Parked, time.Time{}
	}
	h := d.view.Health(id)
	if !o.Credential.ours() {
		if h.OpenUntil.After(now) {
			return Open, h.OpenUntil
		}
		return Healthy, time.Time{}
	}
	switch {
	case h.ParkedUntil.After(now):
		return Parked, h.ParkedUntil
	case h.OpenUntil.After(now), h.Probing:
		return Open, h.OpenUntil
	}
	if until := d.view.CoolingUntil(id, o.WireModel); until.After(now) {
		return Cooling, until
	}
	if h.Limit > 0 && h.Running >= h.Limit {
		return Recovering, time.Time{}
	}
	return Healthy, time.Time{}
}

// HomeFamily is the family of the first member that has one: members of
// another one would need their requests translated.
func (r *Route) HomeFamily() llm.Family {
	for _, m := range r.Members {
		if m.Provider.Family != llm.FamilyNone {
			return m.Provider.Family
		}
	}
	return llm.FamilyNone
}

// hosts tells whether a member of a family serves in a route of another one. A
// provider without a family may host anything.
func hosts(home, member llm.Family) bool {
	return home == member || home == llm.FamilyNone || member == llm.FamilyNone
}
