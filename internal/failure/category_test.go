package failure

import "testing"

func TestCategory_the_public_enum(t *testing.T) {
	seen := map[Category]bool{}
	for _, c := range Categories() {
		if !c.Valid() || seen[c] {
			t.Errorf("%q", c)
		}
		seen[c] = true
	}
	if len(seen) != 11 {
		t.Errorf("%d categories, want the 11 of chapter 30", len(seen))
	}
	if Category("").Valid() || Category("quota").Valid() {
		t.Error("another word is valid")
	}
}
