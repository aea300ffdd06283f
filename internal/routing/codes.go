package routing

// Codes lists what the steps of a stage can say, in no order that matters. The
// values are public: the API document has them, and the console a word for
// each.
func Codes(s Stage) []string {
	switch s {
	case StageRoute:
		return []string{codePicked, codePickedByAlias, codePickedByFamily, codePickedFamily, codePickedImplicit}
	case StageMember:
		return []string{
			codeMode, codeNoKey, codeFormat, codeFamily, codeNoWireModel, codeProvider, codeResidency, codeData, codeDrained, codeDisabled,
			codeWindow, codeSameModel, CodeGlobalPassthrough,
		}
	case StageState:
		var out []string
		for _, st := range States() {
			if st != Healthy { // is not worth a step
				out = append(out, string(st))
			}
		}
		return out
	case StageStrategy:
		var out []string
		for _, k := range Strategies() {
			out = append(out, k.ID)
		}
		return out
	case StageRefusal:
		return []string{
			"NO_ROUTE", "NO_UPSTREAM_KEY", "UPSTREAM_AMBIGUOUS", "context_length_exceeded", "model_not_found", "model_not_supported",
			"no_eligible_provider",
		}
	}
	return nil
}

// Stages lists the stages in the order of a plan.
func Stages() []Stage {
	return []Stage{StageRoute, StageMember, StageState, StageStrategy, StageRefusal}
}

// States lists the states of a candidate from the best to the worst.
func States() []State { return []State{Healthy, Recovering, Cooling, Open, Parked} }

// Credentials lists whose credential a candidate can be dialled with.
func Credentials() []Credential {
	return []Credential{CredentialOwn, CredentialCaller, CredentialVirtual}
}

// Codes of the steps that say how a route was found.
const (
	codePicked         = "picked"
	codePickedByAlias  = "picked-by-alias"
	codePickedByFamily = "picked-by-family"
	codePickedFamily   = "picked-family"
	codePickedImplicit = "picked-implicit"
)

// CodeGlobalPassthrough is a member that stays in, with another credential.
const CodeGlobalPassthrough = "global-passthrough"
