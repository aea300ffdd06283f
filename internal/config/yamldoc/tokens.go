package yamldoc

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/interlock-gateway/interlock/internal/resource"
)

const (
	// maxNesting bounds lists and mappings inside each other on one line.
	maxNesting = 64
	// maxBlockKeys bounds the keys of one mapping in block style, for which
	// the parser takes quadratic time.
	maxBlockKeys = 10_000
)

// checkTokens refuses the YAML that configuration has no use for, before the
// parser sees it.
func (s *source) checkTokens(tokens token.Tokens) resource.Problems {
	var ps resource.Problems
	var shape shape
	for i, tk := range tokens {
		say := refusal(tokens, i)
		if say == "" {
			if say = shape.next(tokens, i); say != "" {
				return append(ps, s.problem(tk.Position.Line, tk.Position.Column, "%s", say))
			}
			continue
		}
		ps = append(ps, s.problem(tk.Position.Line, tk.Position.Column, "%s", say))
	}
	return ps
}

// joinPlain puts texts such as env:NAME together again that the library takes
// apart in { … } and [ … ]: a colon without a space after it is a part of the
// text, unless the text before it is quoted.
func joinPlain(tokens token.Tokens) token.Tokens {
	out := make(token.Tokens, 0, len(tokens))
	flow := 0
	for i := 0; i < len(tokens); i++ {
		tk := tokens[i]
		switch tk.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.MappingValueType:
			if flow > 0 && len(out) > 0 && i+1 < len(tokens) && touching(out[len(out)-1], tk, tokens[i+1]) {
				before, after := out[len(out)-1], tokens[i+1]
				out = out[:len(out)-1]
				out.Add(token.String(before.Value+":"+after.Value, before.Origin+":"+after.Origin, before.Position))
				i++
				continue
			}
		}
		out.Add(tk)
	}
	return out
}

// touching tells a plain text, a colon and a plain text without spaces between
// them.
func touching(before, colon, after *token.Token) bool {
	return isPlainToken(before) && isPlainToken(after) &&
		before.Position.Line == colon.Position.Line && colon.Position.Line == after.Position.Line &&
		before.Position.Column+utf8.RuneCountInString(before.Value) == colon.Position.Column &&
		colon.Position.Column+1 == after.Position.Column
}

func isPlainToken(tk *token.Token) bool {
	return isScalarToken(tk) && tk.Type != token.SingleQuoteType && tk.Type != token.DoubleQuoteType
}

// firstLoss finds the first character of the source, spaces aside, that is in
// no token, and says what is wrong there; -1 if there is none. The library drops
// some silently.
func firstLoss(src string, tokens token.Tokens) (at int, say string) {
	const lost = "this can't be read as YAML; put a text that begins here in quotes"
	rest := src
	for _, tk := range tokens {
		escaped := false
		for _, want := range tk.Origin {
			if isSpace(want) {
				escaped = false
				continue
			}
			rest = strings.TrimLeftFunc(rest, isSpace)
			got, size := utf8.DecodeRuneInString(rest)
			if got != want {
				return len(src) - len(rest), lost
			}
			rest = rest[size:]
			if escaped = want == '\\' && !escaped && tk.Type == token.DoubleQuoteType; !escaped {
				continue
			}
			n, ok := hexEscape(rest)
			if !ok {
				return len(src) - len(rest) - size,
					`this is no character: an escape is "\x" with two, "\u" with four or "\U" with eight hexadecimal digits; write the character itself, or "\\" for a backslash`
			}
			rest, escaped = rest[n:], n == 0
		}
	}
	rest = strings.TrimLeftFunc(rest, isSpace)
	if rest == "" {
		return -1, ""
	}
	return len(src) - len(rest), lost
}

// hexEscape is the length of what follows the backslash of a character written
// in hexadecimal digits, or in two such escapes as in JSON: the library leaves
// that out of the token's origin. It is 0 for any other escape. ok is false if
// it is no character, of which the library makes one all the same.
func hexEscape(s string) (n int, ok bool) {
	var digits int
	switch {
	case strings.HasPrefix(s, "x"):
		digits = 2
	case strings.HasPrefix(s, "u"):
		digits = 4
	case strings.HasPrefix(s, "U"):
		digits = 8
	default:
		return 0, true
	}
	if len(s) <= digits {
		return 0, false
	}
	v, err := strconv.ParseUint(s[1:1+digits], 16, 32)
	if err != nil {
		return 0, false
	}
	r := rune(v)
	if more, found := strings.CutPrefix(s[1+digits:], `\u`); found && digits == 4 && len(more) >= 4 && utf16.IsSurrogate(r) {
		low, err := strconv.ParseUint(more[:4], 16, 32)
		return 11, err == nil && utf16.DecodeRune(r, rune(low)) != utf8.RuneError
	}
	return 1 + digits, v <= utf8.MaxRune && utf8.ValidRune(r)
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// refusal says why a token is refused; empty if it is not.
func refusal(tokens token.Tokens, i int) string {
	tk := tokens[i]
	switch tk.Type {
	case token.AliasType:
		return following(tokens, i, "*") + " begins with *, which YAML takes for an alias, and aliases are not supported;" +
			" put a pattern in quotes"
	case token.AnchorType:
		return following(tokens, i, "&") + " begins with &, which YAML takes for an anchor, and anchors are not supported;" +
			" write the value where it is used, or put a text in quotes"
	case token.MergeKeyType:
		return "merge keys (<<) are not supported; write the values out"
	case token.TagType:
		return "a text that begins with ! is a YAML tag, and tags are not supported; remove it, or put a text in quotes"
	case token.DirectiveType:
		return "YAML directives (%) are not supported; remove the line, or put a text in quotes"
	case token.MappingKeyType:
		return `keys that begin with "? " are not supported; write key: value`
	}
	if tk.Type == token.SequenceEntryType && emptyEntry(tokens, i) {
		return "this list entry is empty; write a value or remove the line"
	}
	if isPlainToken(tk) && strings.Contains(strings.TrimRight(tk.Origin, " \t\n"), "\t") {
		block := i > 0 && (tokens[i-1].Type == token.LiteralType || tokens[i-1].Type == token.FoldedType)
		if !block {
			return "there is a tab in or before this text; write spaces, or put the text in quotes"
		}
	}
	return ""
}

// emptyEntry tells a list entry without a value. The library takes the next
// key for its value.
func emptyEntry(tokens token.Tokens, i int) bool {
	for _, next := range tokens[i+1:] {
		if next.Type == token.CommentType {
			continue
		}
		return next.Type == token.DocumentHeaderType || next.Type == token.DocumentEndType ||
			(next.Position.Line > tokens[i].Position.Line && next.Position.Column <= tokens[i].Position.Column)
	}
	return true
}

// following shows an alias or anchor with its name.
func following(tokens token.Tokens, i int, sign string) string {
	const limit = 40
	if i+1 < len(tokens) {
		next := tokens[i+1]
		if next.Type == token.StringType && next.Position.Line == tokens[i].Position.Line {
			name := []rune(next.Value)
			return strconv.Quote(sign + string(name[:min(len(name), limit)]))
		}
	}
	return strconv.Quote(sign)
}

// shape follows how deep and how large a document is.
type shape struct {
	flow    []token.Type // the brackets and braces that are open
	line    int
	entries int // "- " on this line
	blocks  []block
}

// block is a mapping in block style: the column of its keys, and their count.
type block struct{ column, keys int }

// next takes one more token and says what is too much; empty if nothing is.
func (h *shape) next(tokens token.Tokens, i int) string {
	tk := tokens[i]
	if tk.Position.Line != h.line {
		h.line, h.entries = tk.Position.Line, 0
	}
	switch tk.Type {
	case token.SequenceStartType, token.MappingStartType:
		h.flow = append(h.flow, tk.Type)
	case token.SequenceEndType:
		return h.close(token.SequenceStartType, "]")
	case token.MappingEndType:
		return h.close(token.MappingStartType, "}")
	case token.SequenceEntryType:
		h.entries++
	case token.DocumentHeaderType, token.DocumentEndType:
		h.blocks, h.flow = nil, nil // an open bracket is the parser's to report
	case token.MappingValueType:
		if len(h.flow) == 0 && i > 0 && h.key(tokens[i-1].Position.Column) > maxBlockKeys {
			return "this mapping has more than " + strconv.Itoa(maxBlockKeys) + " keys"
		}
	}
	if len(h.flow)+h.entries > maxNesting {
		return "lists and mappings are nested too deep; at most " + strconv.Itoa(maxNesting) + " levels are allowed"
	}
	return ""
}

// close takes the end of a list or mapping. The library overlooks one that
// closes nothing.
func (h *shape) close(open token.Type, sign string) string {
	last := len(h.flow) - 1
	if last < 0 || h.flow[last] != open {
		return "there is a " + sign + " here that closes nothing; remove it, or put a text in quotes"
	}
	h.flow = h.flow[:last]
	return ""
}

// key counts a key of a block mapping.
func (h *shape) key(column int) int {
	for len(h.blocks) > 0 && h.blocks[len(h.blocks)-1].column > column {
		h.blocks = h.blocks[:len(h.blocks)-1]
	}
	if len(h.blocks) == 0 || h.blocks[len(h.blocks)-1].column < column {
		h.blocks = append(h.blocks, block{column: column})
	}
	top := &h.blocks[len(h.blocks)-1]
	top.keys++
	return top.keys
}

// countTokens counts the texts, numbers and other scalars among tokens.
func countTokens(tokens token.Tokens) int {
	n := 0
	for _, tk := range tokens {
		if isScalarToken(tk) {
			n++
		}
	}
	return n
}

func isScalarToken(tk *token.Token) bool {
	switch tk.Type {
	case token.StringType, token.SingleQuoteType, token.DoubleQuoteType, token.IntegerType,
		token.BinaryIntegerType, token.OctetIntegerType, token.HexIntegerType, token.FloatType,
		token.InfinityType, token.NanType, token.BoolType, token.NullType:
		return true
	}
	return false
}

// countScalars counts the same in what they were parsed to.
func countScalars(n ast.Node) int {
	switch v := n.(type) {
	case nil:
		return 0
	case *ast.MappingNode:
		sum := 0
		for _, kv := range v.Values {
			sum += countScalars(kv.Key) + countScalars(kv.Value)
		}
		return sum
	case *ast.MappingValueNode:
		return countScalars(v.Key) + countScalars(v.Value)
	case *ast.SequenceNode:
		sum := 0
		for _, e := range v.Values {
			sum += countScalars(e)
		}
		return sum
	case *ast.NullNode:
		if v.Token.Type == token.ImplicitNullType {
			return 0
		}
		return 1
	case *ast.LiteralNode:
		if v.Value == nil {
			return 0
		}
		return 1
	}
	return 1
}
