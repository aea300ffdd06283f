// Package statetest is the contract of run-time state: what every Board and
// every store of pins has to do, in memory or shared by replicas. A new
// implementation passes RunBoard or RunPins.
//
// Invariant: the suites use the exported methods only, and move time through
// the clock that they hand out, or the harness.
package statetest
