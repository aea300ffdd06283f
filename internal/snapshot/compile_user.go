package snapshot

import (
	"strings"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// users compiles the people who may use the console. A password that can't be
// read lets nobody in.
func (c *compiler) users() {
	var list []*auth.User
	each(c, func(doc resource.Document, u *resource.User) {
		out := &auth.User{Name: u.Name, Role: u.Role}
		if resource.IsSealedSecret(u.Password) {
			hash, err := c.Resolve(u, u.Password)
			switch {
			case err == nil:
				out.Password = hash
			case c.Tolerate != nil && c.Tolerate(u):
				c.warn(doc, "secret", "password", "the password can't be read, so the user can't sign in with it; set it again: %v", err)
			default:
				c.problem(doc, "secret", "password", "%v", err)
			}
		} else if u.Password != "" { // only the store writes passwords, and it seals them
			c.problem(doc, "secret", "password", "the password is not in sealed form")
		}
		if u.IsEnabled() {
			list = append(list, out)
			return
		}
		if c.live.Callers.Disabled == nil {
			c.live.Callers.Disabled = map[string]bool{}
		}
		c.live.Callers.Disabled[strings.ToLower(u.Name)] = true
	})
	c.live.Users = auth.NewUsers(list...)
}
