package fakellm

import "github.com/tidwall/gjson"

// request holds the few fields of a request body that an answer depends on.
// Everything else is skipped over, so that a long chat history costs little.
type request struct {
	model          string
	stream         bool
	includeUsage   bool
	encodingFormat string

	inputs   int // elements of an input list; 1 for any other input
	requests int // elements of Gemini's batch

	// Where the dialects put a JSON schema for the output, as JSON.
	outputConfig, outputFormat, responseFormat, text, generationConfig string
}

// parseRequest takes what it can from body. What is not JSON, or of another
// type than expected, is not this provider's business and counts as absent.
func parseRequest(body []byte) request {
	req := request{inputs: 1}
	gjson.ParseBytes(body).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "model":
			req.model = value.Str
		case "stream":
			req.stream = value.Type == gjson.True
		case "stream_options":
			req.includeUsage = value.Get("include_usage").Type == gjson.True
		case "encoding_format":
			req.encodingFormat = value.Str
		case "input":
			if value.IsArray() {
				req.inputs = len(value.Array())
			}
		case "requests":
			req.requests = len(value.Array())
		case "output_config":
			req.outputConfig = value.Raw
		case "output_format":
			req.outputFormat = value.Raw
		case "response_format":
			req.responseFormat = value.Raw
		case "text":
			req.text = value.Raw
		case "generationConfig":
			req.generationConfig = value.Raw
		}
		return true
	})
	return req
}
