package failure

import "time"

// Answer is what a provider sent.
type Answer struct {
	// Status is the HTTP status.
	Status int
	Header map[string][]string
	// Body is the answer's body, or its beginning.
	Body []byte
	// Stream: Body is the data of one server-sent event that reports an
	// error, so Status is not the error's own.
	Stream bool
	// Echo lists what the caller named and the answer may repeat: the model
	// as asked for and as sent. It decides nothing.
	Echo []string
	// Now is the moment of the answer.
	Now time.Time
}

// Classifier maps answers to failures by one vendor's signals and the generic
// ones. It is safe for concurrent use.
type Classifier struct {
	rules    []*rule
	statusOf map[string]int
}

// ByStatus is what Explain names if no row matched and the HTTP status alone
// decided.
const ByStatus = "status"

// Classify says what the answer means. It is for answers that are failures: it
// never says that one is not.
func (c *Classifier) Classify(a *Answer) Failure {
	f, _ := c.Explain(a)
	return f
}

// Explain is Classify together with the id of the row that decided, or
// ByStatus.
func (c *Classifier) Explain(a *Answer) (Failure, string) {
	e := c.evidence(a)
	f := Failure{Status: e.status, Code: e.publicCode()}
	if f.Status == 0 {
		f.Status = a.Status
	}
	r := c.match(e)
	why := ByStatus
	var reset *reset
	if r != nil {
		f.Category, f.ContextLength = r.Category, r.ContextLength
		why, reset = r.ID, r.reset
	} else {
		f.Category = e.byStatus()
	}
	f.RetryAfter, f.HasRetryAfter = e.retryAfter(f.Category, reset)
	return f, why
}

// match finds the first row that the answer satisfies.
func (c *Classifier) match(e *evidence) *rule {
	if e.html && (e.status == forbidden || e.status == unavailable) {
		return nil // a challenge or an error page of a proxy: no vendor's own words
	}
	for _, r := range c.rules {
		if r.matches(e) {
			return r
		}
	}
	return nil
}
