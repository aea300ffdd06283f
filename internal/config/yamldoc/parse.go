package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/interlock-gateway/interlock/internal/resource"
)

// MaxBytes bounds one file.
const MaxBytes = 8 << 20

// Parse reads all documents of a file. The name is for places only.
func Parse(name string, src []byte) ([]*Doc, resource.Problems) {
	return parse(&source{name: name}, src)
}

// ParseValue reads a text that is one value, itself part of another text: its
// places are in line, and columns count from column+1.
func ParseValue(name string, line, column int, src string) (*Doc, resource.Problems) {
	s := &source{name: name, line: line, column: column}
	docs, ps := parse(s, []byte(src))
	switch {
	case len(ps) > 0:
		return nil, ps
	case len(docs) == 0:
		return &Doc{src: s}, nil
	case len(docs) > 1:
		return nil, resource.Problems{s.problem(1, 1, "this is more than one YAML document; write one value")}
	}
	return docs[0], nil
}

func (s *source) problem(line, column int, format string, args ...any) resource.Problem {
	return resource.Problem{Code: resource.CodeInvalid, Message: fmt.Sprintf(format, args...), Pos: s.pos(line, column)}
}

func parse(s *source, src []byte) ([]*Doc, resource.Problems) {
	src, bad := s.checkText(src)
	if bad != nil {
		return nil, resource.Problems{*bad}
	}
	// The library miscounts lines after a comment that ends in \r\n.
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	src = bytes.ReplaceAll(src, []byte("\r"), []byte("\n"))
	tokens, err := tokenize(string(src))
	if err != nil {
		return nil, resource.Problems{s.problem(1, 1, "this can't be read as YAML")}
	}
	tokens = joinPlain(tokens)
	if ps := s.checkTokens(tokens); len(ps) > 0 {
		return nil, ps
	}
	if lost, say := firstLoss(string(src), tokens); lost >= 0 && tokens.InvalidToken() == nil {
		line, column := lineColumn(src, lost)
		return nil, resource.Problems{s.problem(line, column, "%s", say)}
	}
	var docs []*Doc
	var problems resource.Problems
	for _, group := range documents(tokens) {
		body, err := parseDocument(group)
		if err != nil {
			problems = append(problems, s.syntax(src, group, err))
			continue
		}
		if doc := (&Doc{src: s, body: body}); !doc.Empty() {
			docs = append(docs, doc)
		}
	}
	return docs, problems
}

// documents splits tokens at the separators. The library's parser is given one
// document at a time: it drops all that follows an empty one.
func documents(tokens token.Tokens) []token.Tokens {
	var groups []token.Tokens
	start := 0
	cut := func(end int) {
		if end > start {
			groups = append(groups, tokens[start:end])
		}
		start = end
	}
	for i, tk := range tokens {
		switch tk.Type {
		case token.DocumentHeaderType:
			cut(i)
		case token.DocumentEndType:
			cut(i + 1)
		}
	}
	cut(len(tokens))
	return groups
}

// checkText refuses what is no UTF-8 text, and takes a byte order mark off.
func (s *source) checkText(src []byte) ([]byte, *resource.Problem) {
	refuse := func(offset int, format string, args ...any) ([]byte, *resource.Problem) {
		line, column := lineColumn(src, offset)
		p := s.problem(line, column, format, args...)
		return nil, &p
	}
	if len(src) > MaxBytes {
		return refuse(0, "the file has more than %d MiB; split it", MaxBytes>>20)
	}
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return refuse(0, "the file is in UTF-16; save it as UTF-8")
	}
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return refuse(i, "the file is not UTF-8 here (byte 0x%02x); save it as UTF-8", src[i])
		case r < ' ' && r != '\n' && r != '\r' && r != '\t', r == 0x7f, r == 0xfeff:
			return refuse(i, "the file has the control character %U here; remove it", r)
		}
		i += n
	}
	return src, nil
}

// lineColumn turns an offset into a place, from 1, in characters.
func lineColumn(src []byte, offset int) (line, column int) {
	before := src[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

var (
	errPanic = errors.New("the YAML library panicked")
	errLoss  = errors.New("the YAML library dropped a part")
)

// tokenize and parseTokens turn a panic of the library into an error: what an
// administrator writes must not end the process.
func tokenize(src string) (tokens token.Tokens, err error) {
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	return lexer.Tokenize(src), nil
}

func parseTokens(tokens token.Tokens) (f *ast.File, err error) {
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	// Duplicates are found by the decoder, which goes on after the first.
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// parseDocument parses the tokens of one document, and makes sure that every
// text and number of it is in the result: what is lost silently may be a
// restriction.
func parseDocument(tokens token.Tokens) (ast.Node, error) {
	file, err := parseTokens(tokens)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) == 0 {
		file.Docs = []*ast.DocumentNode{{}}
	}
	body := file.Docs[0].Body
	if len(file.Docs) > 1 || countTokens(tokens) != countScalars(body) {
		return nil, errLoss
	}
	return body, nil
}

// syntax words an error of the parser.
func (s *source) syntax(src []byte, tokens token.Tokens, err error) resource.Problem {
	var located yaml.Error
	if !errors.As(err, &located) || located.GetToken() == nil || located.GetToken().Position == nil {
		at := tokens[0].Position
		return s.problem(at.Line, at.Column, "the document that begins here can't be read as YAML; check its indentation, quotes and brackets")
	}
	at := located.GetToken().Position
	message := located.GetMessage()
	if tabIndent(src, at.Line) {
		message = "the line is indented with a tab; YAML needs spaces"
	} else {
		message = syntaxMessage(message)
	}
	return s.problem(max(at.Line, 1), max(at.Column, 1), "%s", message)
}

// tabIndent tells whether a line, counted from 1, has a tab in its
// indentation.
func tabIndent(src []byte, line int) bool {
	for range line - 1 {
		_, rest, ok := bytes.Cut(src, []byte("\n"))
		if !ok {
			return false
		}
		src = rest
	}
	row, _, _ := bytes.Cut(src, []byte("\n"))
	indent := row[:len(row)-len(bytes.TrimLeft(row, " \t"))]
	return bytes.IndexByte(indent, '\t') >= 0
}

// syntaxMessage says what to do about the library's messages that people meet.
// The others are passed on; none of them repeats a value.
func syntaxMessage(message string) string {
	for _, m := range []struct{ part, say string }{
		{"mapping value is not allowed", `a ": " is not allowed here; check the indentation, and put a text that has ": " in quotes`},
		{"value is not allowed in this context", "a value is not allowed here; check the indentation, and the quotes of the text before"},
		{"block sequence entries are not allowed", `a list entry ("- ") is not allowed here; begin it on a line of its own`},
		{"sequence end token ']' not found", "the list that begins here with [ is not closed; add ]"},
		{"',' or ']' must be specified", "the list is not closed; add , or ]"},
		{"could not find flow mapping end token", "the { that begins here is not closed; add }"},
		{"',' or '}' must be specified", "the { … } is not closed; add , or }"},
		{"could not find end character of double-quoted", `the text that begins here with " is not closed`},
		{"could not find end character of single-quoted", "the text that begins here with ' is not closed"},
		{"is a reserved character", "a text can't begin with @ or `; put it in quotes"},
		{"unexpected directive value", "a text can't begin with %; put it in quotes"},
		{"expected sequence element, but found ','", "the list has an empty entry; remove a comma"},
		{"tab character", "a tab stands where YAML needs spaces"},
		{"found character '\t'", "a tab stands where YAML needs spaces"},
		{"unexpected key name", `this line has no ": "; write key: value, and check the indentation`},
		{"non-map value is specified", `this line has no ": "; write key: value, and check the indentation`},
		{"map key definition includes an implicit line break", `this key has no ": " on its line; write key: value`},
		{"mapping key", "this key occurs twice; remove one of them"},
	} {
		if strings.Contains(message, m.part) {
			return m.say
		}
	}
	return "this is not valid YAML: " + message
}
