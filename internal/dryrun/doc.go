// Package dryrun answers where a request would go. It builds the input of
// routing.Decide from what somebody supposes, in the way in which the gateway
// builds it from a request, and shows what comes of it: the admin API and the
// command line ask the same question here.
//
// Invariants, each held by a test:
//   - the decision is the live one: nothing here chooses, orders or excludes;
//   - asking changes nothing: no turn is taken, no pin used, no provider asked;
//   - the same question with the same seed on the same state has the same
//     answer.
package dryrun
