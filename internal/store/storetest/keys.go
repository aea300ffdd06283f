package storetest

import (
	"time"

	"github.com/interlock-gateway/interlock/internal/store"
)

func keyTests() []test {
	return []test{
		{"a secret is stored whole", func(f *fixture) {
			k := store.KeySecret{Hash: hash(200), KeyID: "k", Last4: "é\"4'", CreatedAt: at(1), EndsAt: at(2), RevokedAt: at(3)}
			f.write(at(9), store.Write{AddKeys: []store.KeySecret{k}})
			f.reopen()
			f.same("secrets", f.load().Keys, []store.KeySecret{k})
		}},
		{"a new secret is dated and makes a revision", func(f *fixture) {
			state := f.write(at(1), store.Write{AddKeys: []store.KeySecret{{Hash: hash(1), KeyID: "k"}}})
			f.same("state", state, &store.State{Revision: 1, Keys: []store.KeySecret{{Hash: hash(1), KeyID: "k", CreatedAt: at(1)}}})
		}},
		{"secrets are ordered by key, then from old to new", func(f *fixture) {
			state := f.write(at(1), store.Write{AddKeys: []store.KeySecret{
				{Hash: hash(1), KeyID: "b", CreatedAt: at(2)}, {Hash: hash(2), KeyID: "b", CreatedAt: at(1)}, {Hash: hash(4), KeyID: "a"}, {Hash: hash(3), KeyID: "a"},
			}})
			f.same("secrets", hashes(state.Keys), [][32]byte{hash(3), hash(4), hash(2), hash(1)})
			f.same("secrets", f.load().Keys, state.Keys)
		}},
		{"rotating ends the old secret and not the new one", rotates},
		{"a secret that has ended is not revived", func(f *fixture) {
			f.write(at(1), store.Write{AddKeys: []store.KeySecret{{Hash: hash(1), KeyID: "k", EndsAt: at(2)}}})
			f.same("the revision", f.write(at(3), store.Write{EndKeys: map[string]time.Time{"k": at(9)}}).Revision, int64(1))
			f.same("the end", f.load().Keys[0].EndsAt, at(2))
		}},
		{"a live secret can end sooner, and never later", func(f *fixture) {
			f.write(at(1), store.Write{AddKeys: []store.KeySecret{{Hash: hash(1), KeyID: "k", EndsAt: at(5)}, {Hash: hash(2), KeyID: "k"}}})
			state := f.write(at(2), store.Write{EndKeys: map[string]time.Time{"k": at(9)}})
			f.same("the ends", []time.Time{state.Keys[0].EndsAt, state.Keys[1].EndsAt}, []time.Time{at(5), at(9)})
			f.same("sooner", f.write(at(3), store.Write{EndKeys: map[string]time.Time{"k": at(4)}}).Keys[1].EndsAt, at(4))
			f.same("sooner", f.load().Keys[0].EndsAt, at(4))
		}},
		{"revoking is final", revokes},
		{"restoring documents does not bring a secret back", func(f *fixture) {
			key := doc("Key", "ci", `{}`)
			key.ID = "k"
			f.write(at(1), store.Write{Put: []store.Document{key}, AddKeys: []store.KeySecret{{Hash: hash(1), KeyID: "k"}}})
			f.write(at(2), store.Write{Delete: []store.DocumentRef{{Kind: "Key", Name: "ci"}}, RevokeKeys: []string{"k"}})
			state := f.write(at(3), store.Write{Put: f.at(1)})
			f.same("the id", state.Documents[0].ID, "k")
			f.same("the revocation", state.Keys[0].RevokedAt, at(2))
		}},
		{"a secret is there once", func(f *fixture) {
			one := store.KeySecret{Hash: hash(1), KeyID: "k"}
			f.isConflict(f.refused(store.Write{AddKeys: []store.KeySecret{one, one}}))
			f.write(at(1), store.Write{AddKeys: []store.KeySecret{one}})
			f.isConflict(f.refused(store.Write{AddKeys: []store.KeySecret{{Hash: hash(1), KeyID: "other"}}}))
			f.write(at(2), store.Write{RevokeKeys: []string{"k"}})
			f.isConflict(f.refused(store.Write{AddKeys: []store.KeySecret{one}}))
		}},
	}
}

func rotates(f *fixture) {
	f.write(at(1), store.Write{AddKeys: []store.KeySecret{{Hash: hash(1), KeyID: "k"}, {Hash: hash(2), KeyID: "other"}}})
	state := f.write(at(2), store.Write{EndKeys: map[string]time.Time{"k": at(26)}, AddKeys: []store.KeySecret{{Hash: hash(3), KeyID: "k"}}})
	f.same("secrets", state.Keys, []store.KeySecret{
		{Hash: hash(1), KeyID: "k", CreatedAt: at(1), EndsAt: at(26)},
		{Hash: hash(3), KeyID: "k", CreatedAt: at(2)},
		{Hash: hash(2), KeyID: "other", CreatedAt: at(1)},
	})
	f.same("secrets", f.load().Keys, state.Keys)
}

func revokes(f *fixture) {
	f.write(at(1), store.Write{AddKeys: []store.KeySecret{{Hash: hash(1), KeyID: "k"}, {Hash: hash(2), KeyID: "k", EndsAt: at(2)}, {Hash: hash(3), KeyID: "other"}}})
	state := f.write(at(3), store.Write{RevokeKeys: []string{"k"}, AddKeys: []store.KeySecret{{Hash: hash(4), KeyID: "k"}}})
	want := []store.KeySecret{
		{Hash: hash(1), KeyID: "k", CreatedAt: at(1), RevokedAt: at(3)},
		{Hash: hash(2), KeyID: "k", CreatedAt: at(1), EndsAt: at(2), RevokedAt: at(3)},
		{Hash: hash(4), KeyID: "k", CreatedAt: at(3)},
		{Hash: hash(3), KeyID: "other", CreatedAt: at(1)},
	}
	f.same("secrets", state.Keys, want)
	state = f.write(at(4), store.Write{RevokeKeys: []string{"k"}, EndKeys: map[string]time.Time{"k": at(9)}})
	want[2].RevokedAt, want[2].EndsAt = at(4), at(9)
	f.same("secrets", state.Keys, want)
	f.same("secrets", f.load().Keys, want)
}

func hashes(keys []store.KeySecret) [][32]byte {
	var out [][32]byte
	for _, k := range keys {
		out = append(out, k.Hash)
	}
	return out
}
