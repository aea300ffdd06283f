package resource

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Department is a part of the organisation.
type Department struct {
	Meta
	Description string `json:"description,omitempty"`
}

// Team is a group of people in a department.
type Team struct {
	Meta
	Department  string `json:"department,omitempty"`
	Description string `json:"description,omitempty"`
	// AllowedModels is a ceiling on what the team's keys may use.
	AllowedModels []string `json:"allowedModels,omitempty"`
}

// User is a person.
type User struct {
	Meta
	Team   string   `json:"team,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// Role is gateway-admin, viewer, or empty for none.
	Role string `json:"role,omitempty"`
	// Password is for the console. It is write-only: 10 to 256 characters, of
	// which an argon2id hash is kept. Documents have none.
	Password string `json:"password,omitempty" secret:"true"`
}

// FoldsCase tells whether names of a kind are the same in upper and lower
// case: those that people write as they please, and those of models, which
// requests match without regard to it.
func FoldsCase(kind string) bool {
	switch kind {
	case "Team", "Department", "User", "RoutingRule", "Model":
		return true
	}
	return false
}

// NameKey is what has to be unique among the objects of a kind, and what a
// reference is looked up by.
func NameKey(r Ref) Ref {
	if FoldsCase(r.Kind) {
		r.Name = strings.ToLower(r.Name)
	}
	return r
}

// Check reports what is wrong with the department by itself.
func (d *Department) Check() []Problem {
	c := newChecker(d.Head())
	c.textName()
	c.description(d.Description)
	return c.ps
}

// Check reports what is wrong with the team by itself.
func (t *Team) Check() []Problem {
	c := newChecker(t.Head())
	c.textName()
	c.description(t.Description)
	patterns(c, "allowedModels", t.AllowedModels)
	return c.ps
}

// Check reports what is wrong with the user by itself.
func (u *User) Check() []Problem {
	c := newChecker(u.Head())
	c.textName()
	textName(c, "team", u.Team)
	for i, g := range u.Groups {
		if err := CheckText(g, maxTextName); err != nil {
			c.add(IndexPath("groups", i), "the group's name %s", err)
		}
	}
	uniqueFold(c, "groups", u.Groups)
	if u.Role != "" {
		oneOf(c, "role", u.Role, "gateway-admin", "viewer")
	}
	return c.ps
}

// textName checks the name of an object whose names are free text.
func (c *checker) textName() {
	if err := CheckText(c.object.Name, maxTextName); err != nil {
		c.add("name", "the name %s", err)
	}
}

func (c *checker) description(s string) {
	if s != "" {
		c.err("description", CheckText(s, maxDescription))
	}
}

func (t *Team) refs() []RefAt {
	if t.Department == "" {
		return nil
	}
	return []RefAt{{Path: "department", Ref: Ref{"Department", t.Department}}}
}

func (u *User) refs() []RefAt {
	if u.Team == "" {
		return nil
	}
	return []RefAt{{Path: "team", Ref: Ref{"Team", u.Team}}}
}

func (k *Key) refs() []RefAt {
	var out []RefAt
	add := func(path, kind, name string) {
		if name != "" {
			out = append(out, RefAt{Path: path, Ref: Ref{kind, name}})
		}
	}
	add("team", "Team", k.Team)
	if k.Owner != nil {
		add("owner.user", "User", k.Owner.User)
		add("owner.team", "Team", k.Owner.Team)
		add("owner.department", "Department", k.Owner.Department)
	}
	if k.ProviderCredential != nil {
		add("providerCredential.provider", "Provider", k.ProviderCredential.Provider)
	}
	for i, name := range k.AllowedProviders { // without any provider the key would admit nobody
		out = append(out, RefAt{Path: IndexPath("allowedProviders", i), Ref: Ref{"Provider", name}, Weak: true})
	}
	return out
}

func (t *Team) unbuilt() []unbuilt {
	return []unbuilt{{"allowedModels", len(t.AllowedModels) > 0, "", deny}}
}

func (u *User) secretFields() []SecretField { return []SecretField{{"password", &u.Password}} }

// Lengths of passwords, in characters.
const (
	minPassword = 10
	maxPassword = 256
)

// CheckPassword tells what is wrong with a new password. It never repeats it.
func CheckPassword(value string) error {
	if !utf8.ValidString(value) {
		return errors.New("the password is not UTF-8")
	}
	if n := utf8.RuneCountInString(value); n < minPassword || n > maxPassword {
		return fmt.Errorf("a password has %d to %d characters, this one %d", minPassword, maxPassword, n)
	}
	if strings.ContainsFunc(value, unicode.IsControl) {
		return errors.New("the password has a line break or another control character; check what was copied")
	}
	return nil
}

// CheckDocument reports what an object may have, but not when it is a document
// of a file or of an import.
func CheckDocument(o Object) []Problem {
	if k, ok := o.(*Key); ok && strings.HasPrefix(k.Secret, hashedPrefix) {
		c := newChecker(k.Head())
		c.code(CodeInvalid, "secret", "this is how a secret is stored, not a secret; write env:NAME, file:PATH or the secret itself")
		return c.ps
	}
	u, ok := o.(*User)
	if !ok || u.Password == "" {
		return nil
	}
	c := newChecker(u.Head())
	c.code(CodeInvalid, "password", "%s", "a password does not belong in a document, where others can read it; leave it out and set it with: interlock users set-password NAME")
	return c.ps
}

// IsWrittenPassword tells a password that is written out from none, from a mask
// and from what the store sealed. Unlike other secrets it is never a reference:
// any text can be a password.
func IsWrittenPassword(value string) bool {
	return value != "" && !IsSealedSecret(value) && !strings.HasPrefix(value, "***")
}
