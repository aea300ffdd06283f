package control

// MaxDepth is how deeply JSON may be nested: what its readers take.
const MaxDepth = 10_000

// TooDeep tells whether JSON is nested more deeply than its readers take. They
// call it malformed.
func TooDeep(raw []byte) bool {
	depth, text := 0, false
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case text && b == '\\':
			i++
		case b == '"':
			text = !text
		case text:
		case b == '{', b == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case b == '}', b == ']':
			depth--
		}
	}
	return false
}
