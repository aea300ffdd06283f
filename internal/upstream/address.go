package upstream

import "maps"

// SameAddress tells whether another target sends its requests to the same place.
func (t *Target) SameAddress(o *Target) bool {
	return maps.EqualFunc(t.places, o.places, func(a, b place) bool { return a.url.String() == b.url.String() })
}
