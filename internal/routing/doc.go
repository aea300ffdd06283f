// Package routing makes the whole routing decision and explains it.
//
// Decide(snapshot, input) is pure: same snapshot and same input give the same
// Plan, without I/O, clock or randomness of its own. The live path, the dry
// run, replay and the simulator all call it, so they cannot disagree. What
// follows a failed attempt is pure as well: see Plan.After.
//
// Invariants, each held by a test:
//   - nothing serves by default: without a candidate the plan has a refusal;
//   - the most specific route is chosen first and filtered afterwards, so a
//     route left without members refuses and never falls through;
//   - no rule, route or strategy adds a candidate that a restriction removed;
//   - every exclusion and choice has a step, and every candidate a reason, that says why.
//
// A Snapshot is immutable after Build and shared by all requests.
package routing
