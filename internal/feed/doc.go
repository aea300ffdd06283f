// Package feed hands news to whoever listens at this moment: published
// configurations, requests, the state of providers.
//
// What is promised: handing out never waits and, while nobody listens, costs
// one load of an atomic; each reader has a small buffer, and one that is slow
// loses news and is told how many. It imports only the standard library.
package feed
