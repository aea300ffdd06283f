package resource_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// TestNotBuilt_every_field_is_built_or_refused sets each field of each kind in
// turn. A field that neither is refused nor stands in the list of built ones
// would be accepted and ignored.
func TestNotBuilt_every_field_is_built_or_refused(t *testing.T) {
	built := map[string][]string{
		"Provider": {
			"vendor", "baseUrl", "wireFormat", "apiKey", "openai", "modelPatterns", "modelAliases", "staticModels", "residency",
			"dataHandling", "contextWindows", "timeouts", "headers", "drained", "allowInsecure", "caFile", "proxyUrl", "http2",
		},
		"Route": {
			"description", "modelPatterns", "members", "switchFamilyOnQuota", "aliases", "strategy", "orgKeyFallbackForCallerCredentials",
		},
		"Key": {
			"type", "owner", "team", "secret", "expiresAt", "labels", "agent", "rotatedFrom",
			"allowedProviders", "allowedResidencies", "dataHandling", "providerCredential",
		},
		"Model":      {"modality", "family", "contextWindow", "maxOutputTokens", "prices", "deprecated"},
		"Department": {"description"},
		"Team":       {"department", "description"},
		"User":       {"team", "groups", "role", "password"},
		"Settings": {
			"residencies", "unknownModelStatus", "globalPassthrough", "requireDataHandling", "allowAnonymousPassthrough",
		},
	}
	for _, kind := range resource.Kinds() {
		typ := reflect.TypeOf(kind.New()).Elem()
		for f := range typ.Fields() {
			if f.Anonymous {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			t.Run(kind.Name+"."+name, func(t *testing.T) {
				o := kind.New()
				if p, ok := o.(*resource.Provider); ok {
					p.Type = resource.TypeOpenAI
				}
				if k, ok := o.(*resource.Key); ok {
					k.Type, k.Secret = "pat", "env:X"
				}
				set(reflect.ValueOf(o).Elem().FieldByIndex(f.Index), name)
				refused := slices.ContainsFunc(slices.Concat(resource.NotBuilt(o), resource.Warnings(o)), func(p resource.Problem) bool {
					return p.Code == resource.CodeNotBuilt && strings.HasPrefix(p.Path, name)
				})
				if refused == slices.Contains(built[kind.Name], name) {
					t.Errorf("refused: %v, in the list of built fields: %v", refused, !refused)
				}
			})
		}
	}
}

// set gives a field a value that asks for something.
func set(v reflect.Value, name string) {
	switch v.Interface().(type) {
	case resource.ProviderType:
		v.SetString(string(resource.TypeBedrock))
		return
	case *resource.Strategy:
		v.Set(reflect.ValueOf(&resource.Strategy{Type: "weighted"}))
		return
	case string:
		values := map[string]string{"type": "virtual", "pii": "block", "piiDefault": "block", "onLoss": "refuse", "wireFormat": "openai-chat"}
		v.SetString(values[name])
		if values[name] == "" {
			v.SetString("env:X")
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(v.Elem(), name)
	case reflect.Struct:
		if v.NumField() > 0 && v.Field(0).CanSet() {
			set(v.Field(0), name)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(3)
	case reflect.Float64:
		v.SetFloat(3)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x"), reflect.New(v.Type().Elem()).Elem())
	}
}

func TestNotBuilt(t *testing.T) {
	cases := []struct {
		name   string
		object resource.Object
		path   string
	}{
		{"an unbuilt type", provider(func(p *resource.Provider) { p.Type = resource.TypeVertex }), "type"},
		{"a format that is not the type's own", provider(func(p *resource.Provider) { p.WireFormat = "anthropic-messages" }), "wireFormat"},
		{"a foreign format", provider(func(p *resource.Provider) { p.Type, p.WireFormat = resource.TypeAnthropic, "openai-chat" }), "wireFormat"},
		{"mixed families", route(func(r *resource.Route) { r.AllowCrossProvider = true }), "allowCrossProvider"},
	}
	for _, c := range cases {
		t.Run("reports "+c.name, func(t *testing.T) {
			ps := slices.Concat(resource.NotBuilt(c.object), resource.Warnings(c.object))
			if len(ps) != 1 || ps[0].Path != c.path || ps[0].Code != resource.CodeNotBuilt {
				t.Errorf("got %v", resource.Problems(ps))
			}
		})
	}
	for name, o := range map[string]resource.Object{
		"defaults written out": route(func(r *resource.Route) { r.Strategy, r.OnLoss = &resource.Strategy{Type: "failover"}, "allow" }),
		"a drained provider":   provider(func(p *resource.Provider) { p.Drained = true }),
		"the own format":       provider(func(p *resource.Provider) { p.WireFormat = "openai-chat" }),
		"empty demands": key(func(k *resource.Key) {
			k.DataHandling, k.RateLimits, k.PII = &resource.DataHandling{}, &resource.RateLimits{}, "off"
		}),
	} {
		t.Run("takes "+name, func(t *testing.T) {
			if ps := resource.NotBuilt(o); len(ps) > 0 {
				t.Errorf("got %v", resource.Problems(ps))
			}
		})
	}
}

// Nobody may get more than was written: a restriction that can't be enforced
// is refused, or its holder is.
func TestNotBuilt_restrictions_fail_closed(t *testing.T) {
	for _, o := range []resource.Object{
		key(func(k *resource.Key) { k.AllowedModels = []string{"gpt-*"} }),
		key(func(k *resource.Key) { k.PII = "block" }),
		key(func(k *resource.Key) { n := 1; k.RateLimits = &resource.RateLimits{Concurrent: &n} }),
		&resource.Team{Meta: resource.Meta{Kind: "Team", Name: "t"}, AllowedModels: []string{"gpt-*"}},
		&resource.Settings{Meta: resource.Meta{Kind: "Settings", Name: "settings"}, GlobalModelAllowlist: []string{"gpt-*"}},
		&resource.Settings{Meta: resource.Meta{Kind: "Settings", Name: "settings"}, PIIDefault: "block"},
	} {
		if len(resource.NotBuilt(o)) == 0 && len(resource.Unenforced(o)) == 0 {
			t.Errorf("%+v is taken and nothing enforces it", o)
		}
	}
}
