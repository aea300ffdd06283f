package admin

import (
	"math"
	"mime"
	"strconv"
	"strings"
)

// preferred is the media type that an Accept header asks for first: the one of
// the highest q, of several the one that it names first. It is the first offer
// if the header asks for none of them.
func preferred(accept string, offers ...string) string {
	best, quality, place := offers[0], 0.0, math.MaxInt
	for _, offer := range offers {
		q, at := asked(accept, offer)
		if q > quality || q == quality && q > 0 && at < place {
			best, quality, place = offer, q, at
		}
	}
	return best
}

// asked is the q of a media type in an Accept header, and which part of it says
// so: the one that names the type most exactly.
func asked(accept, offer string) (q float64, at int) {
	family, _, _ := strings.Cut(offer, "/")
	names := []string{"*/*", family + "/*", offer}
	exact := -1
	for i, part := range strings.Split(accept, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		for n, name := range names {
			if media == name && n > exact {
				exact, q, at = n, 1, i
				if text, has := params["q"]; has {
					q = weightOf(text)
				}
			}
		}
	}
	return q, at
}

// weightOf reads a q; one that is none counts as 0.
func weightOf(text string) float64 {
	q, err := strconv.ParseFloat(text, 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return q
}
