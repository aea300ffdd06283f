// Package hotpath measures what each step of a request costs, and holds the
// memory of each to the budget of bench/budget.txt. Everything is in its tests.
//
// Memory is held by a test and time is not: allocations are the same on every
// machine, and a test that fails when the machine is busy is soon ignored.
package hotpath
