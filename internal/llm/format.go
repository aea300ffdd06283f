package llm

import "strings"

// Format names a request and response shape on the wire. The values are the
// ones that Provider.wireFormat takes.
type Format string

// The wire formats.
const (
	AnthropicMessages Format = "anthropic-messages"
	OpenAIChat        Format = "openai-chat"
	OpenAIResponses   Format = "openai-responses"
	Gemini            Format = "gemini"
)

// Family is the vendor family of a model or provider: sessions are pinned to
// one, and signed thinking can be read only inside one.
type Family string

// Families that have rules of their own. A vendor of the catalogue may name
// any other (deepseek, moonshot, zai, ...). FamilyNone is a provider that may
// host anything.
const (
	FamilyNone      Family = ""
	FamilyAnthropic Family = "anthropic"
	FamilyOpenAI    Family = "openai"
	FamilyGoogle    Family = "google"
)

// FamilyOfModel guesses the family that a model name belongs to, for the
// three families that have implicit routes. It answers FamilyNone for every
// other name. The name may have a vendor prefix such as "anthropic/".
// Source of the name forms: the vendors' own model lists, 2026-11.
func FamilyOfModel(model string) Family {
	m := strings.ToLower(model)
	if i := strings.LastIndexByte(m, '/'); i >= 0 {
		m = m[i+1:]
	}
	switch {
	case strings.Contains(m, "claude"), strings.Contains(m, "anthropic."):
		return FamilyAnthropic
	case strings.HasPrefix(m, "gpt-oss"):
		return FamilyNone // open weights, many hosts
	case strings.HasPrefix(m, "gpt-"), strings.HasPrefix(m, "chatgpt-"), isOSeries(m):
		return FamilyOpenAI
	case strings.HasPrefix(m, "gemini-"):
		return FamilyGoogle
	}
	return FamilyNone
}

// isOSeries tells o1, o3-mini, o4-... from other words that start with "o".
func isOSeries(m string) bool {
	return len(m) >= 2 && m[0] == 'o' && m[1] >= '1' && m[1] <= '9' && (len(m) == 2 || m[2] == '-')
}
