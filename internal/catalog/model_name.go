package catalog

import "strings"

// maxForms is how many forms of a name are looked up: as it is, and after each
// of the rules of strip. A name that repeats a part loses forms in the middle,
// never the first or the last.
const maxForms = 8

// names is a list that needs no memory of its own.
type names struct {
	list [maxForms]string
	n    int
}

func (l *names) all() []string { return l.list[:l.n] }

// add appends a name, or puts it in the last one's place if there is no room.
func (l *names) add(name string) {
	if l.n < maxForms {
		l.n++
	}
	l.list[l.n-1] = name
}

// forms are the names under which a model is looked up. They are parts of the
// name that was asked for.
type forms struct {
	// names begin with the one that was asked for and end with the one that
	// has everything stripped; none is empty.
	names
	// heads are those that begin in a different way than the one before, and
	// tails those that end in a different way: patterns need not see the rest.
	heads, tails names
}

// formsOf lists the forms of a name that is in lower case and not empty.
func formsOf(lower string) forms {
	var f forms
	f.add(lower)
	f.heads.add(lower)
	f.tails.add(lower)
	for {
		next, front := strip(f.list[f.n-1])
		switch {
		case next == "":
			return f
		case front:
			f.heads.add(next)
		default:
			f.tails.add(next)
		}
		f.add(next)
	}
}

// strip takes one part off a name that says where the model is served or which
// build of it, and not which model it is (the names are those that vendors
// document: Bedrock, Vertex, Fireworks, OpenRouter, LiteLLM, Claude Code). It
// is empty if there is no such part, or nothing else.
//
// What stands in front goes first: then every form still ends as it was sent,
// and an entry for "[1m]" is found behind a region. Suffixes such as -mini,
// -codex or -oss are other models, with other prices, and stay.
func strip(n string) (rest string, front bool) {
	for _, cut := range [...]func(string) string{cutPath, cutRegion, cutVendor} {
		if s := cut(n); len(s) < len(n) && s != "" {
			return s, true
		}
	}
	for _, cut := range [...]func(string) string{cutMarker, cutVersion, cutLatest, cutDate} {
		if s := cut(n); len(s) < len(n) && s != "" {
			return s, false
		}
	}
	return "", false
}

// cutPath takes off the first part of a path, if it names a vendor or a host,
// and the whole path of names that are resources of a cloud.
func cutPath(n string) string {
	first, rest, ok := strings.Cut(n, "/")
	if !ok {
		return n
	}
	switch first {
	case "anthropic", "openai", "google", "gemini", "vertex_ai", "vertex", "bedrock", "models", "azure", "azure_ai",
		"openrouter", "deepseek", "moonshot", "moonshotai", "zai", "z-ai", "xai", "x-ai", "mistral", "mistralai",
		"groq", "cerebras", "fireworks_ai", "together_ai", "meta-llama", "qwen", "github_copilot":
		return rest
	case "publishers", "projects", "accounts":
		if at := strings.LastIndex(n, "/models/"); at >= 0 {
			return n[at+len("/models/"):]
		}
	}
	if strings.HasPrefix(n, "arn:aws") {
		return n[strings.LastIndexByte(n, '/')+1:]
	}
	return n
}

// cutRegion takes off the region of a Bedrock inference profile.
func cutRegion(n string) string {
	if i := strings.IndexByte(n, '.'); i > 0 {
		switch n[:i] {
		case "us", "eu", "apac", "jp", "au", "global", "us-gov":
			return n[i+1:]
		}
	}
	return n
}

// cutVendor takes off the vendor of a Bedrock model id.
func cutVendor(n string) string {
	if i := strings.IndexByte(n, '.'); i > 0 {
		switch n[:i] {
		case "anthropic", "openai", "meta", "mistral", "deepseek", "qwen", "zai", "moonshotai", "moonshot",
			"google", "amazon", "cohere", "minimax", "nvidia", "ai21", "writer":
			return n[i+1:]
		}
	}
	return n
}

// cutMarker takes off what a client or a broker added: the long context of
// Claude Code, the variants of OpenRouter.
func cutMarker(n string) string {
	if s, ok := strings.CutSuffix(n, "[1m]"); ok {
		return s
	}
	if i := strings.LastIndexByte(n, ':'); i >= 0 {
		switch n[i+1:] {
		case "free", "nitro", "thinking", "online":
			return n[:i]
		}
	}
	return n
}

// cutVersion takes off the version of a Bedrock model id: -v1:0, -v2:0, -v1.
// Without a colon only -v1 is one: others, as in deepseek-v4, name a model.
func cutVersion(n string) string {
	i := strings.LastIndex(n, "-v")
	if i < 0 {
		return n
	}
	major, minor, colon := strings.Cut(n[i+2:], ":")
	if (colon && digits(major) && digits(minor)) || (!colon && major == "1") {
		return n[:i]
	}
	return n
}

// cutDate takes off @default, @YYYYMMDD, -YYYYMMDD and -YYYY-MM-DD.
func cutDate(n string) string {
	if s, ok := strings.CutSuffix(n, "@default"); ok {
		return s
	}
	if i := len(n) - len("-20251101"); i >= 0 && (n[i] == '-' || n[i] == '@') && isDate(n[i+1:i+5], n[i+5:i+7], n[i+7:]) {
		return n[:i]
	}
	if i := len(n) - len("-2025-11-01"); i >= 0 && n[i] == '-' && n[i+5] == '-' && n[i+8] == '-' &&
		isDate(n[i+1:i+5], n[i+6:i+8], n[i+9:]) {
		return n[:i]
	}
	return n
}

func cutLatest(n string) string { return strings.TrimSuffix(n, "-latest") }

// isDate keeps numbers that only have eight digits, such as a size, from being
// taken for a date.
func isDate(year, month, day string) bool {
	return digits(year) && digits(month) && digits(day) && year[:2] == "20" &&
		month >= "01" && month <= "12" && day >= "01" && day <= "31"
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// atDate is how Vertex writes a name that ends in -YYYYMMDD: with an @.
func atDate(lower string) (string, bool) {
	i := len(lower) - len("-20251101")
	if i <= 0 || lower[i] != '-' || len(cutDate(lower)) != i {
		return "", false
	}
	return lower[:i] + "@" + lower[i+1:], true
}
