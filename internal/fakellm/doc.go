// Package fakellm is a scripted stand-in for LLM providers: it answers in the
// dialects of Anthropic, OpenAI, Gemini, Vertex and Bedrock, fails on demand in
// the ways that real providers fail, and remembers what it was sent.
//
// A Server is an http.Handler. Tests use it in process, under httptest or with
// Start; the command fakellm serves it to anything else. Rules script faults
// and content, from Go (SetRules, AddRule) or over HTTP at /__fake/.
//
// Invariants:
//   - A request without a matching rule is answered well, at once and with the
//     same bytes but for ids and times.
//   - Nothing waits without also watching the client and Close, so a scripted
//     silence ends when the client leaves, and a test leaks no goroutine.
//   - Records are copies and may be read while requests run. The maps and byte
//     slices in them are shared and must not be changed.
//
// It is for loopback: it checks no credential, and its control plane is open.
package fakellm
