package admin

import (
	"fmt"
	"slices"

	"github.com/interlock-gateway/interlock/internal/audit"
	"github.com/interlock-gateway/interlock/internal/failure"
	"github.com/interlock-gateway/interlock/internal/routing"
)

// answerEnums puts the values of closed sets into the document, from where they
// are defined, so that whoever shows an answer can have a word for each. Only
// fields of answers are in it: what requests may say is checked elsewhere, with
// better messages.
func (s *server) answerEnums() {
	var (
		codes       []string
		stages      = namesOf(routing.Stages())
		states      = namesOf(routing.States())
		credentials = namesOf(routing.Credentials())
		categories  = namesOf(failure.Categories())
		strategies  = routing.Codes(routing.StageStrategy)
		outcomes    = []string{audit.OutcomeAllow, audit.OutcomeDeny, audit.OutcomeError, audit.OutcomeCanceled}
		skipped     = []string{string(routing.Open), string(routing.Parked)}
	)
	for _, st := range routing.Stages() {
		codes = append(codes, routing.Codes(st)...)
	}
	for field, values := range map[[2]string][]string{
		{"PlanStep", "stage"}:           stages,
		{"PlanStep", "code"}:            codes,
		{"PlanCandidate", "state"}:      states,
		{"PlanCandidate", "credential"}: credentials,
		{"PlanCandidate", "strategy"}:   strategies,
		{"DryRunExclusion", "code"}:     routing.Codes(routing.StageMember),
		{"DryRunAfter", "category"}:     categories,
		{"AuditAttempt", "outcome"}:     outcomes,
		{"AuditAttempt", "category"}:    categories,
		{"AuditAttempt", "credential"}:  credentials,
		{"AuditRecord", "outcome"}:      outcomes,
		{"AuditRecord", "category"}:     categories,
		{"AuditRecord", "credential"}:   credentials,
		{"AuditEvent", "outcome"}:       outcomes,
		{"AuditEvent", "category"}:      categories,
		{"AuditEvent", "credential"}:    credentials,
		{"AuditEvent", "skipReason"}:    skipped,
		{"Skip", "skipReason"}:          skipped,
		{"Skip", "category"}:            categories,
		{"MemberHealth", "cause"}:       append(slices.Clone(categories), causeOperator),
		{"BreakerState", "state"}:       {"closed", "open", "half_open"},
		{"BreakerState", "category"}:    categories,
		{"ParkState", "category"}:       categories,
		{"ProbeResult", "category"}:     categories,
	} {
		schema := s.registry().Map()[field[0]]
		if schema == nil || schema.Properties[field[1]] == nil {
			panic(fmt.Sprintf("the API has no %s.%s", field[0], field[1]))
		}
		schema.Properties[field[1]].Enum = anySlice(values)
	}
	s.registry().Map()["MemberHealth"].Properties["state"].Enum = memberStates()
}

func namesOf[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
