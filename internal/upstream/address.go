package upstream

import (
	"maps"
	"net/url"
)

// SameAddress tells whether another target sends its requests to the same place.
func (t *Target) SameAddress(o *Target) bool {
	return maps.EqualFunc(t.urls, o.urls, func(a, b *url.URL) bool { return a.String() == b.String() })
}
