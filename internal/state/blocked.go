package state

import "github.com/interlock-gateway/interlock/internal/routing"

// Blocked tells what keeps the organisation's requests away from a provider,
// for records and pages; ok is false if nothing does. It changes nothing.
func (b *Board) Blocked(id routing.ProviderID) (why Blocked, ok bool) {
	v, known := b.providers.get(string(id))
	if !known {
		return Blocked{}, false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.health.calm() {
		return Blocked{}, false
	}
	why = v.health.block(b.now(), 0, b.settings.Load().OpenFor)
	return why, why.State != ""
}
