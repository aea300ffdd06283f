package catalog

import (
	"testing"
	"time"
)

func TestLoadTmp(t *testing.T) {
	start := time.Now()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(start), c.IDs(), c.Selectable())
	g, _ := c.ForProvider("openai-compatible", "")
	vs := []*Vendor{g}
	for _, id := range c.IDs() {
		v, _ := c.Vendor(id)
		vs = append(vs, v)
	}
	for _, v := range vs {
		xs, err := v.Examples(); if err != nil { t.Fatal(err) }
		for _, x := range xs {
			f, why := v.Classifier().Explain(x.Answer())
			w := x.Signal
			if w != why && v.ID+"/"+w != why {
				t.Errorf("%s: %s: by %s, want %s", v.ID, x.Name, why, w)
			}
			if f.Category != x.Want || f.ContextLength != x.ContextLength || f.HasRetryAfter != (x.RetryAfter != nil) || (x.RetryAfter != nil && f.RetryAfter != time.Duration(*x.RetryAfter)) {
				t.Errorf("%s: %s: %+v", v.ID, x.Name, f)
			}
		}
	}
}
