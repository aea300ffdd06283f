package admin_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/admin"
)

var update = flag.Bool("update", false, "rewrite api/openapi.yaml")

const specFile = "../../api/openapi.yaml"

// AP: the document that is checked in is the one that the code gives.
func TestAP_OpenAPI_document_is_up_to_date(t *testing.T) {
	got, err := admin.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(specFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date; run go generate ./internal/admin (-file +code):\n%s", specFile, cmp.Diff(string(want), string(got)))
	}
	again, err := admin.OpenAPI()
	if err != nil || !bytes.Equal(got, again) {
		t.Error("the document differs from run to run")
	}
}

// AP: the document is public, OpenAPI 3.1, and whole: every reference
// resolves, every operation has an id of its own, a tag, a summary and a role.
func TestAP_OpenAPI_document_is_public_and_whole(t *testing.T) {
	e := newEnv(t)
	asJSON := e.as("", "GET", "/openapi.json", nil).want(200)
	asYAML := e.as("", "GET", "/openapi.yaml", nil).want(200)
	var fromYAML, fromJSON any
	if err := yaml.Unmarshal(asYAML.body, &fromYAML); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(asJSON.body, &fromJSON); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(fromJSON, fromYAML); d != "" {
		t.Errorf("JSON and YAML differ:\n%s", d)
	}
	doc := asJSON.object()
	if doc["openapi"] != "3.1.0" {
		t.Error(doc["openapi"])
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && lookUp(doc, ref) == nil {
				t.Errorf("%s does not resolve", ref)
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(doc)
	ids := map[string]bool{}
	for path, item := range doc["paths"].(map[string]any) {
		for method, v := range item.(map[string]any) {
			op := v.(map[string]any)
			id, _ := op["operationId"].(string)
			if id == "" || ids[id] || op["summary"] == nil || op["tags"] == nil || op["x-role"] == nil {
				t.Errorf("%s %s: %v", method, path, op)
			}
			ids[id] = true
			responses := op["responses"].(map[string]any)
			if public := op["x-role"] == "public"; responses["422"] != nil || !public && (responses["401"] == nil || responses["403"] == nil) {
				t.Errorf("%s: responses %v", id, responses)
			}
			if b, ok := op["requestBody"].(map[string]any); ok && strings.Contains(toJSON(t, b), "octet-stream") {
				t.Errorf("%s: the body is not described", id)
			}
		}
	}
}

func lookUp(doc map[string]any, ref string) any {
	var at any = doc
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[part]
	}
	return at
}

// The comments in the document are those of the code.
func TestAP_OpenAPI_comments_are_up_to_date(t *testing.T) {
	spec, err := admin.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"A vendor endpoint together with a credential.", "Overrides the vendor's default.", "In try order.", "Defaults to true.",
	} {
		if !bytes.Contains(spec, []byte(text)) {
			t.Errorf("%q is missing", text)
		}
	}
}
