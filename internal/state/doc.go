// Package state is the run-time state of the gateway, in memory: what it
// learned about providers from its own traffic. A Board holds the breaker, the
// park and the recovery of each provider, the cooldown, latency and load of
// each deployment (provider and wire model), and the turns and traffic of each
// route. Pins hold what sessions keep. All of it is lost on a restart.
//
// Invariants, each held by a test:
//   - reading changes nothing: a breaker becomes half-open in Admit only, so
//     the dry run and the health page may look as often as they like;
//   - one probe at a time, and never more than three: others go beside one that
//     takes long or after one that was given up; whoever else comes is refused,
//     or says that it dials all the same (force);
//   - a permit carries the generation of its provider's health: an answer from
//     before a trip, a recovery or an operator's reset decides nothing;
//   - what a credential that isn't the organisation's ran into touches no
//     breaker, park or cooldown;
//   - no park ends more than MaxPark ahead, whatever a provider says;
//   - keys are ids that outlive a snapshot; what comes from clients (wire
//     models, sessions) is bounded;
//   - an event is reported while no lock is held.
//
// Locks are one per provider, one per deployment, one per route and one per
// share of the sessions; look-ups take none.
package state
