package demo

import (
	"errors"
	"fmt"

	"github.com/interlock-gateway/interlock/internal/fakellm"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// The models that the commands of the demonstration ask for.
const (
	// FailoverModel has a second provider behind the first.
	FailoverModel = "gpt-5.4-nano"
	// WeightedModel is shared between two providers.
	WeightedModel = "claude-haiku-4-5"
	// LocalModel is on-premises, where something is broken.
	LocalModel = "llama-3.3-70b"
	// Alias is a name that only this gateway knows.
	Alias = "assistant"
)

// EUKey is the name of the key that may use providers in the EU and on
// premises only.
const EUKey = "research"

// World is what stands around the gateway.
type World struct {
	OnPremises, EU, External *Fake
}

// Fake is a fake provider that listens.
type Fake struct {
	*fakellm.Server
	// URL has no path.
	URL string
}

// NewWorld starts the fake providers.
func NewWorld() (_ *World, err error) {
	w := &World{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	for _, f := range []struct {
		at   **Fake
		text string
	}{
		{&w.OnPremises, "Hello from the machine room."},
		{&w.EU, "Hello from a provider in the EU."},
		{&w.External, "Hello from a provider far away."},
	} {
		s := fakellm.New(fakellm.Options{Reply: fakellm.Reply{Text: f.text}, KeepRecords: fakellm.KeepNone})
		*f.at = &Fake{Server: s}
		if (*f.at).URL, err = s.Start("127.0.0.1:0"); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Close ends the fake providers.
func (w *World) Close() error {
	var errs []error
	for _, f := range []*Fake{w.OnPremises, w.EU, w.External} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// Documents are the resources: providers, routes and the organisation.
func (w *World) Documents() []resource.Document {
	var docs []resource.Document
	add := func(kind, name string, o resource.Object) {
		*o.Head() = resource.Meta{Kind: kind, Name: name}
		docs = append(docs, resource.Document{Object: o})
	}
	provider := func(name string, f *Fake, typ resource.ProviderType, residency string, models ...string) {
		p := &resource.Provider{Type: typ, BaseURL: f.URL, APIKey: "not-a-secret-of-" + name, Residency: residency, StaticModels: models}
		if typ != resource.TypeAnthropic {
			p.BaseURL += "/v1"
		}
		add("Provider", name, p)
	}
	provider("external", w.External, resource.TypeOpenAI, "us", FailoverModel, "gpt-5.4")
	provider("eu", w.EU, resource.TypeOpenAI, "eu", FailoverModel)
	provider("external-claude", w.External, resource.TypeAnthropic, "us", WeightedModel)
	provider("eu-claude", w.EU, resource.TypeAnthropic, "eu", WeightedModel)
	provider("on-premises", w.OnPremises, resource.TypeOpenAICompatible, "on-prem", LocalModel)
	provider("eu-llama", w.EU, resource.TypeOpenAICompatible, "eu", LocalModel)

	add("Route", "gpt", &resource.Route{
		Description:   "Failover: external first, the EU when it fails.",
		ModelPatterns: []string{"gpt-*"},
		Aliases:       []resource.Alias{{Name: Alias, WireModels: map[string]string{"external": "gpt-5.4", "eu": "gpt-5.4-mini"}}},
		Members:       []resource.Member{{Provider: "external"}, {Provider: "eu"}},
	})
	add("Route", "claude", &resource.Route{
		Description:   "Weighted: two of three conversations stay in the EU.",
		ModelPatterns: []string{"claude-*"},
		Strategy:      &resource.Strategy{Type: "weighted"},
		Members:       []resource.Member{{Provider: "eu-claude", Weight: new(2)}, {Provider: "external-claude", Weight: new(1)}},
	})
	add("Route", "llama", &resource.Route{
		Description:   "Failover: the machine room first.",
		ModelPatterns: []string{"llama-*"},
		Members:       []resource.Member{{Provider: "on-premises"}, {Provider: "eu-llama"}},
	})

	add("Department", "engineering", &resource.Department{})
	add("Team", "platform", &resource.Team{Department: "engineering"})
	add("Team", "research", &resource.Team{Department: "engineering"})
	add("User", "anna", &resource.User{Team: "platform"})
	add("User", "omar", &resource.User{Team: "research"})
	return docs
}

// Keys are the keys of the organisation; the first one is for whoever looks.
func Keys() []*resource.Key {
	meta := func(name string) resource.Meta { return resource.Meta{Kind: "Key", Name: name} }
	return []*resource.Key{
		{Meta: meta("anna-laptop"), Type: "pat", Owner: &resource.KeyOwner{User: "anna"}, Team: "platform"},
		{Meta: meta("ci"), Type: "service", Team: "platform"},
		{Meta: meta(EUKey), Type: "service", Team: "research", AllowedResidencies: []string{"eu", "on-prem"}},
	}
}

// Break lets a fake provider fail every request for the chat endpoint with a
// status, so many times; 0 is without end.
func (f *Fake) Break(status, times int) error {
	err := f.SetRules([]fakellm.Rule{{Path: "chat/completions", Action: fakellm.ActionStatus, Status: status, Times: times}})
	if err != nil {
		return fmt.Errorf("script the fake provider: %w", err)
	}
	return nil
}
