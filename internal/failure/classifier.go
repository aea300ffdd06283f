package failure

import "time"

// Answer is what a provider sent.
type Answer struct {
	// Status is the HTTP status.
	Status int
	Header map[string][]string
	// Body is the answer's body, or its beginning; for Stream the data of
	// one server-sent event that reports an error.
	Body   []byte
	Stream bool
	// Now is the moment of the answer.
	Now time.Time
}

// Classifier maps answers to failures by one vendor's signals and the generic
// ones. It is safe for concurrent use.
type Classifier struct{}

// Compile checks and compiles the vendor's rows and the generic ones.
func Compile(vendor []Signal, generic Generic) (*Classifier, error) {
	return &Classifier{}, nil
}

// Classify says what the answer means.
func (c *Classifier) Classify(a *Answer) Failure {
	f, _ := c.Explain(a)
	return f
}

// Explain is Classify together with the id of the row that decided, or
// "status" if the HTTP status alone did.
func (c *Classifier) Explain(a *Answer) (Failure, string) {
	return Failure{Category: ServerError, Status: a.Status}, "status"
}
