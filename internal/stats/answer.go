package stats

import "time"

// Answer is what an overview shows of a window of time.
type Answer struct {
	Window string    `json:"window" enum:"1h,24h,7d"`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	// Since is from when on the figures are whole: at a start only the newest
	// records are counted again.
	Since         time.Time `json:"since"`
	BucketSeconds int       `json:"bucketSeconds"`
	Totals        Figures   `json:"totals"`
	// Series are the figures of each bucket, oldest first, empty ones too. The
	// last bucket still runs.
	Series []Bucket `json:"series"`
	// Models are those that were asked for most, and Providers those that
	// served most or failed last, at most ten, with "(others)" for names that
	// were too many to count.
	Models    []Share `json:"models"`
	Providers []Share `json:"providers"`
}

// Figures count requests of the data plane.
type Figures struct {
	Requests int64 `json:"requests"`
	// Errors ended with a failure, Refusals were denied by the configuration,
	// Canceled were left by the client.
	Errors   int64 `json:"errors"`
	Refusals int64 `json:"refusals"`
	Canceled int64 `json:"canceled"`
	// Failovers are requests that another candidate than the first one dialed
	// served, or tried to.
	Failovers int64   `json:"failovers"`
	Tokens    Tokens  `json:"tokens"`
	CostUSD   float64 `json:"costUsd"`
	// Unpriced are requests with tokens whose price is not known: their cost is
	// not in costUsd.
	Unpriced int64 `json:"unpriced"`
	// P50Ms and P95Ms are percentiles of the time to the end of requests that
	// were served, in milliseconds, within 10 %; 0 without any.
	P50Ms float64 `json:"p50Ms"`
	P95Ms float64 `json:"p95Ms"`
}

// Tokens are sums of tokens by kind.
type Tokens struct {
	Input       int64 `json:"input"`
	CachedRead  int64 `json:"cachedRead"`
	CachedWrite int64 `json:"cachedWrite"`
	Output      int64 `json:"output"`
}

// Bucket is a part of a window.
type Bucket struct {
	// Time is when it begins.
	Time time.Time `json:"time"`
	Figures
}

// Share is what one model or provider had of it.
type Share struct {
	Name     string  `json:"name"`
	Requests int64   `json:"requests"`
	Errors   int64   `json:"errors"`
	Tokens   int64   `json:"tokens"`
	CostUSD  float64 `json:"costUsd"`
}
