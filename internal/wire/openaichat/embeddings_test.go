package openaichat_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/interlock-gateway/interlock/internal/llm"
	"github.com/interlock-gateway/interlock/internal/wire"
	"github.com/interlock-gateway/interlock/internal/wire/openaichat"
	"github.com/interlock-gateway/interlock/internal/wire/wiretest"
)

// RQ-EP, the row of /v1/embeddings.
func TestRQ_EP_embeddings_is_the_table_row(t *testing.T) {
	e := openaichat.Embeddings()
	want := llm.Endpoint{
		ID: "embeddings", Method: "POST", Paths: []string{"/v1/embeddings"}, Format: "openai-chat", Failover: true, OneModel: true, Counts: true, ModelKind: "embedding",
	}
	if d := cmp.Diff(want, *e); d != "" || e.Modality() != "embedding" {
		t.Errorf("%s (-want +got):\n%s", e.Modality(), d)
	}
	if chat := openaichat.New().Endpoints[0]; chat.Modality() != "chat" {
		t.Errorf("Chat Completions takes models for %s", chat.Modality())
	}
}

func TestEmbeddings_have_the_shapes_of_the_format(t *testing.T) {
	f := openaichat.New()
	for _, c := range []struct {
		name, body string
		isErr, ok  bool
		input      int64
	}{
		{"vectors", `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1,-0.2]}],"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}`, false, true, 8},
		{"base64", `{"object":"list","data":[{"object":"embedding","index":0,"embedding":"zczMPc3MTL4="}],"model":"m","usage":{"prompt_tokens":2,"total_tokens":2}}`, false, true, 2},
		{"without usage", `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[]}],"model":"m"}`, false, true, 0},
		{"an error", `{"error":{"message":"x","type":"invalid_request_error","param":null,"code":null}}`, true, true, 0},
		{"the flat error of vLLM", `{"object":"error","message":"x","code":400}`, true, true, 0},
		{"cut short", `{"object":"list","data":[`, false, false, 0},
	} {
		a, ok := f.ReadAnswer([]byte(c.body))
		if ok != c.ok || ok && a.Error != c.isErr {
			t.Errorf("%s: %v, %v", c.name, a.Error, ok)
		}
		if d := cmp.Diff(llm.Usage{Input: c.input}, wiretest.Usage(f, []byte(c.body))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestEmbeddings_requests(t *testing.T) {
	read := func(body string) error {
		return wire.ReadEnvelope(new(wire.Envelope), []byte(body), openaichat.New().Known, true)
	}
	for _, body := range []string{ // openai-go 3.99.0, openai 7.59.0, ai 6.0.326, @langchain/openai 1.5.8
		`{"input":"a","model":"text-embedding-3-small"}`,
		`{"model":"text-embedding-3-small","input":["a","b"],"encoding_format":"base64"}`,
		`{"model":"text-embedding-3-small","input":["a"],"encoding_format":"float"}`,
		`{"model":"text-embedding-3-small","input":"a","encoding_format":"base64"}`,
		`{"model":"text-embedding-3-large","input":[[1,2],[3]],"dimensions":256,"user":"u"}`,
	} {
		if err := read(body); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, body := range []string{`{"model":"m","Input":"a"}`, `{"model":"m","Encoding_Format":"float"}`, `{"model":"m","DIMENSIONS":2}`} {
		if read(body) == nil {
			t.Errorf("%s passes for an unknown member", body)
		}
	}
}
