package wire_test

import (
	"testing"

	"github.com/interlock-gateway/interlock/internal/wire"
)

// RQ-STREAM-1: the words of a provider's error survive, whatever their form.
func TestRQ_STREAM_1_ReadProviderError(t *testing.T) {
	const silent = "the provider reported an error without a message"
	for data, want := range map[string][4]string{
		`{"error":{"message":"m","type":"t","code":"c"}}`:                    {"m", "t", "c", ""},
		`{"type":"error","error":{"type":"overloaded_error","message":"m"}}`: {"m", "overloaded_error", "", ""},
		`{"error":{"message":"m","code":502,"metadata":{"raw": "x"}}}`:       {"m", "", "502", `{"raw":"x"}`},
		`{"error":{"message":"m","code":null,"type":null,"metadata":[1]}}`:   {"m", "", "", ""},
		`{"error":"m"}`:  {"m", "", "", ""},
		`{"error":{}}`:   {silent, "", "", ""},
		`{"error":null}`: {silent, "", "", ""},
		`{"error":{"code":"1310"},"choices":{"a":1}}`:                                                  {silent, "", "1310", ""},
		`{"type":"error","code":"c","message":"m","param":null}`:                                       {"m", "", "c", ""},
		`{"object":"error","message":"m","type":"BadRequestError","code":400}`:                         {"m", "BadRequestError", "400", ""},
		`{"choices":[{"index":0},{"index":1,"error":{"code":-1,"message":"m"}}]}`:                      {"m", "", "-1", ""},
		`{"choices":[{"finish_reason":"error"}],"usage":{"message":"no"}}`:                             {silent, "", "", ""},
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"c","message":"m"}}}`: {"m", "", "c", ""},
		`{"code":{"a":1},"message":["x"],"type":"t"}`:                                                  {silent, "t", "", ""},
		" upstream\nconnect error ":                                                                    {"upstream\nconnect error", "", "", ""},
		`{"error":{"message":"cut`:                                                                     {`{"error":{"message":"cut`, "", "", ""},
		``:                                                                                             {silent, "", "", ""},
	} {
		e := wire.ReadProviderError([]byte(data))
		if got := [4]string{e.Message, e.Type, e.CodeText(), string(e.Metadata)}; got != want {
			t.Errorf("%s\n got %q\nwant %q", data, got, want)
		}
	}
}
