package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
)

// Action is what a rule does to the answer.
type Action string

// The actions. Those for streams leave other answers alone, except that Cut
// and Stall stop a plain answer in its middle.
const (
	// ActionReply answers well, with Rule.Reply as content. It is the default.
	ActionReply Action = "reply"
	// ActionStatus answers Status with an error body or the literal Body.
	ActionStatus Action = "status"
	// ActionError200 answers 200 with an error object, as OpenRouter does.
	ActionError200 Action = "error_200"
	// ActionReset closes the connection with a TCP reset before any byte.
	ActionReset Action = "reset"
	// ActionHang sends nothing until the client leaves.
	ActionHang Action = "hang"
	// ActionHeadersHang sends 200 and the headers of a stream, then nothing.
	ActionHeadersHang Action = "headers_hang"
	// ActionCut breaks the connection after After frames, as Cut says.
	ActionCut Action = "cut"
	// ActionStall goes silent after After frames until the client leaves.
	ActionStall Action = "stall"
	// ActionTricklePings sends keep-alives only, every GapMS, for ever.
	ActionTricklePings Action = "trickle_pings"
	// ActionSSEError sends an error event (or Raw) after After frames, and ends.
	ActionSSEError Action = "sse_error"
	// ActionPreambleError sends the events before the content, then an error
	// event, and ends.
	ActionPreambleError Action = "preamble_error"
	// ActionInject sends Raw between frames, after After of them.
	ActionInject Action = "inject"
	// ActionGzip compresses the answer although the client did not ask.
	ActionGzip Action = "gzip"
	// ActionJSONForStream answers a stream request with plain JSON.
	ActionJSONForStream Action = "json_for_stream"
)

func (a Action) known() bool {
	return slices.Contains([]Action{
		"", ActionReply, ActionStatus, ActionError200, ActionReset, ActionHang, ActionHeadersHang, ActionCut, ActionStall,
		ActionTricklePings, ActionSSEError, ActionPreambleError, ActionInject, ActionGzip, ActionJSONForStream,
	}, a)
}

// How ActionCut breaks a connection; CutClose is the default.
const (
	CutReset = "rst" // TCP reset
	CutClose = "fin" // closed without the end of the body
	CutEnd   = "end" // a clean end of the body, without the closing events
)

// Rule scripts the answer to the requests that it matches. Rules are tried in
// order; the first that matches and has uses left is taken. Conditions that
// are empty match anything.
type Rule struct {
	Name     string `json:"name,omitempty"`
	Method   string `json:"method,omitempty"`
	Path     string `json:"path,omitempty"`    // expression on the path
	BodyRE   string `json:"body_re,omitempty"` // expression on the decoded body
	Header   string `json:"header,omitempty"`  // a header that must be there,
	HeaderRE string `json:"header_re,omitempty"`
	Skip     int    `json:"skip,omitempty"`  // let this many matching requests pass first
	Times    int    `json:"times,omitempty"` // uses; 0 is without end

	Action  Action            `json:"action,omitempty"`
	DelayMS int               `json:"delay_ms,omitempty"` // before anything else
	GapMS   int               `json:"gap_ms,omitempty"`   // between stream frames
	Headers map[string]string `json:"headers,omitempty"`  // of the answer
	Reply   *Reply            `json:"reply,omitempty"`

	Status  int    `json:"status,omitempty"`
	Body    string `json:"body,omitempty"`  // literal body of an error
	Shape   string `json:"shape,omitempty"` // anthropic, openai, response_failed, google, bedrock, html, plain, empty; default by endpoint
	Type    string `json:"type,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`

	After int    `json:"after,omitempty"` // frames before the fault
	Raw   string `json:"raw,omitempty"`   // literal bytes for sse_error and inject
	Cut   string `json:"cut,omitempty"`   // rst, fin or end
}

// Reply is the content of a good answer, in no dialect.
type Reply struct {
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
	Tools    []Tool `json:"tools,omitempty"`
	// Encrypted is the encrypted_content of a reasoning item, which comes with
	// or without Thinking as its summary; Responses only.
	Encrypted string `json:"encrypted,omitempty"`
	Stop      string `json:"stop,omitempty"` // stop reason, in the dialect's own word; in Responses why the answer is incomplete
	Repeat    int    `json:"repeat,omitempty"`
	Pings     int    `json:"pings,omitempty"` // extra ones; Anthropic streams only

	// TextLen makes the text this many bytes long.
	TextLen int `json:"text_len,omitempty"`
	// Chunks is the number of content frames in a stream; by default there
	// is one for every 12 characters.
	Chunks int `json:"chunks,omitempty"`
	// ChunkText is the text of each content frame, instead of Text.
	ChunkText string `json:"chunk_text,omitempty"`

	Usage *Usage `json:"usage,omitempty"`
	// NoUsage leaves usage out, as some compatible vendors do.
	NoUsage bool `json:"no_usage,omitempty"`
}

// Usage sets the token counts of an answer. Zero input is the request's bytes
// divided by 4; zero output is 7.
type Usage struct {
	Input      int `json:"input,omitempty"` // without the cached ones
	Output     int `json:"output,omitempty"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	Reasoning  int `json:"reasoning,omitempty"` // part of Output
}

// Tool is a scripted tool call.
type Tool struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// compiled is a Rule ready to match. seen counts the requests that fulfilled
// its conditions; skip and times follow from it alone, so that two requests at
// once cannot take the same use.
type compiled struct {
	Rule
	path, body, header *regexp.Regexp
	seen               atomic.Int64
}

func compile(r Rule) (*compiled, error) {
	if !r.Action.known() {
		return nil, fmt.Errorf("rule %q: no action %q", r.Name, r.Action)
	}
	if r.Action == ActionCut && !slices.Contains([]string{"", CutReset, CutClose, CutEnd}, r.Cut) {
		return nil, fmt.Errorf("rule %q: cut must be rst, fin or end, not %q", r.Name, r.Cut)
	}
	if r.HeaderRE != "" && r.Header == "" {
		return nil, fmt.Errorf("rule %q: header_re without header", r.Name)
	}
	c := &compiled{Rule: r}
	for _, e := range []struct {
		text string
		re   **regexp.Regexp
	}{{r.Path, &c.path}, {r.BodyRE, &c.body}, {r.HeaderRE, &c.header}} {
		if e.text == "" {
			continue
		}
		re, err := regexp.Compile(e.text)
		if err != nil {
			return nil, fmt.Errorf("rule %q: %w", r.Name, err)
		}
		*e.re = re
	}
	return c, nil
}

func compileAll(rules []Rule) ([]*compiled, error) {
	list := make([]*compiled, len(rules))
	for i, r := range rules {
		c, err := compile(r)
		if err != nil {
			return nil, err
		}
		list[i] = c
	}
	return list, nil
}

func (u *compiled) matches(r *http.Request, body []byte) bool {
	switch {
	case u.Method != "" && u.Method != r.Method,
		u.path != nil && !u.path.MatchString(r.URL.Path),
		u.Header != "" && !u.matchesHeader(r),
		u.body != nil && !u.body.Match(body):
		return false
	}
	return true
}

func (u *compiled) matchesHeader(r *http.Request) bool {
	values := r.Header.Values(u.Header)
	if http.CanonicalHeaderKey(u.Header) == "Host" { // net/http moves it out of the map
		values = []string{r.Host}
	}
	if u.header == nil {
		return len(values) > 0
	}
	return slices.ContainsFunc(values, u.header.MatchString)
}

// use takes one use of the rule, if one is left.
func (u *compiled) use() bool {
	n := u.seen.Add(1) - int64(u.Skip)
	return n > 0 && (u.Times == 0 || n <= int64(u.Times))
}

// ruleSet is the rules in force. Requests read it without a lock.
type ruleSet struct {
	mu   sync.Mutex // writers
	list atomic.Pointer[[]*compiled]
}

func (s *ruleSet) replace(rules []Rule) error {
	list, err := compileAll(rules)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.list.Store(&list)
	s.mu.Unlock()
	return nil
}

func (s *ruleSet) add(rules []Rule) error {
	list, err := compileAll(rules)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.list.Load(); old != nil {
		list = slices.Concat(*old, list)
	}
	s.list.Store(&list)
	return nil
}

func (s *ruleSet) clear() {
	s.mu.Lock()
	s.list.Store(nil)
	s.mu.Unlock()
}

// take finds the rule for a request, or nil.
func (s *ruleSet) take(r *http.Request, body []byte) *compiled {
	list := s.list.Load()
	if list == nil {
		return nil
	}
	for _, u := range *list {
		if u.matches(r, body) && u.use() {
			return u
		}
	}
	return nil
}
