package auth

import (
	"strings"

	"github.com/interlock-gateway/interlock/internal/secret"
)

// User is what is kept of a person who may use the console.
type User struct {
	// Name is as the configuration spells it.
	Name string
	// Role is gateway-admin, viewer, or empty for none.
	Role string
	// Password is its hash; empty for none.
	Password secret.String
}

// RoleAdmin is the role of users who may do everything.
const RoleAdmin = "gateway-admin"

// Users is an immutable table of the users who are switched on. Case does not
// count in names. A nil table is empty.
type Users struct {
	byName    map[string]*User
	admins    int
	passwords int
}

// NewUsers makes a table.
func NewUsers(list ...*User) *Users {
	t := &Users{byName: make(map[string]*User, len(list))}
	for _, u := range list {
		t.byName[strings.ToLower(u.Name)] = u
		if !u.Password.IsZero() && u.Role != "" {
			t.passwords++
			if u.Role == RoleAdmin {
				t.admins++
			}
		}
	}
	return t
}

// Find looks a user up.
func (t *Users) Find(name string) (*User, bool) {
	if t == nil {
		return nil, false
	}
	u, ok := t.byName[strings.ToLower(name)]
	return u, ok
}

// HaveAdmin tells whether an administrator can sign in with a password.
func (t *Users) HaveAdmin() bool { return t != nil && t.admins > 0 }

// HavePassword tells whether anybody can sign in with a password.
func (t *Users) HavePassword() bool { return t != nil && t.passwords > 0 }
