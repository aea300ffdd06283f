package wire

import "github.com/interlock-gateway/interlock/internal/llm"

// Format describes one wire format to everything that serves, relays or lists
// it. A format is one folder with a New function and one line in package
// formats.
type Format struct {
	ID    llm.Format
	Title string
	// Endpoints are what clients can call in this format.
	Endpoints []*llm.Endpoint
	// Known are the top-level request members that must not appear in
	// another spelling.
	Known *Names
	// KeepAlive is sent on a silent stream; nil where clients take nothing.
	KeepAlive []byte
	// Tied tells whether only the maker of what a request refers to can serve
	// it, and what shows that; nil where no request is.
	Tied func(*Envelope) (tied bool, reason string)
	// NewStream starts reading the events of one answer to a request.
	NewStream func(*Envelope) StreamReader
	// ReadAnswer reads what matters of a whole body that came with status 200,
	// in one pass. ok is false when the body is neither an answer nor an error
	// object.
	ReadAnswer func(body []byte) (a Answer, ok bool)
	// AppendError renders a gateway-made error as a body.
	AppendError func(dst []byte, e *Error) []byte
	// AppendStreamError renders it as the event that ends a begun stream.
	AppendStreamError func(dst []byte, e *Error) []byte
	// RequestIDHeader carries the request id on gateway-made errors, as the
	// vendor's own does.
	RequestIDHeader string
}

// Answer is what the gateway needs to know of a whole answer.
type Answer struct {
	// Error: it is an error object; vendors send some with status 200.
	Error bool
	// Usage are its token counts.
	Usage llm.Usage
}

// Error is a failure that a client is told about.
type Error struct {
	// Status is the HTTP status, or the one it would have been.
	Status int
	// Code is Interlock's code, such as NO_ROUTE.
	Code      string
	Message   string
	RequestID string
}

// Text is the message with the code in front of it: SDKs and agents show the
// message and often nothing else. Only a prompt that is too long is told in the
// vendors' own words from the first: agents know them, and make it shorter.
func (e *Error) Text() string {
	if e.Code == "" || e.Code == "context_length_exceeded" {
		return e.Message
	}
	return e.Code + ": " + e.Message
}

// EventKind says what an event of an answer means to the relay.
type EventKind uint8

// The kinds.
const (
	// Preamble comes before content and is held back: if the provider fails
	// now, another can still serve.
	Preamble EventKind = iota
	// Content is part of the answer: from here on the client has seen it.
	Content
	// Failed is the provider's error event.
	Failed
)

// StreamErrors is what a StreamReader can have besides: the errors that end a
// stream, of which an event may say where it stands, and for which providers
// have spellings that clients pass over.
type StreamErrors interface {
	// AppendStreamError renders a gateway-made error as the event that ends
	// this stream.
	AppendStreamError(dst []byte, e *Error) []byte
	// AppendFailed renders the provider's error event as clients of the format
	// understand it after content.
	AppendFailed(dst []byte, ev *Event) []byte
	// ErrorBody is the provider's error event as the body of an answer: the
	// client has seen nothing of the stream and gets a status instead.
	ErrorBody(ev *Event) []byte
}

// Progress is what a StreamReader can have besides, if its format announces
// that the provider works on an answer long before there is any of it.
type Progress interface {
	// Working tells whether it did: from then on only silence is waited for
	// with a limit, and no longer the first content.
	Working() bool
}

// StreamReader follows one answer. It is asked about every event in order and
// keeps what it must remember.
type StreamReader interface {
	// Kind says what the event is.
	Kind(*Event) EventKind
	// Complete tells whether the marker that ends the answer has come. A
	// stream that ends without it was cut.
	Complete() bool
	// Last tells whether nothing more can come: the format's own last event
	// was seen. Some vendors leave it out of a complete answer.
	Last() bool
	// Usage is what the provider has reported so far.
	Usage() llm.Usage
}
