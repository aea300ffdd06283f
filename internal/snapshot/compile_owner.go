package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/auth"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// CodeOwnerDisabled is the code of warnings about keys that admit nobody since
// the user, team or department that they speak for is disabled.
const CodeOwnerDisabled = "owner_disabled"

// checkOwners switches a key off whose user, team or department is disabled,
// and notes it with each of those.
func (c *compiler) checkOwners(doc resource.Document, k *resource.Key, key *auth.Key, closed map[resource.Ref][]string) {
	owners := []resource.RefAt{
		{Path: "owner.user", Ref: resource.Ref{Kind: "User", Name: key.User}},
		{Path: "team", Ref: resource.Ref{Kind: "Team", Name: key.Team}},
		{Path: "owner.department", Ref: resource.Ref{Kind: "Department", Name: key.Department}},
	}
	if o := k.Owner; o != nil && !strings.EqualFold(o.Team, key.Team) {
		owners = append(owners, resource.RefAt{Path: "owner.team", Ref: resource.Ref{Kind: "Team", Name: o.Team}})
	}
	for _, r := range owners {
		o := c.known[resource.NameKey(r.Ref)]
		if o == nil || o.Head().IsEnabled() {
			continue
		}
		what := fmt.Sprintf("its %s %q is disabled", strings.ToLower(r.Ref.Kind), o.Head().Name)
		if key.Off == "" {
			key.Off = what
			c.warn(doc, CodeOwnerDisabled, r.Path, "%s, so the key admits nobody", what)
		}
		closed[refOf(o)] = append(closed[refOf(o)], k.Name)
	}
}

// maxNamed is how many keys a warning names.
const maxNamed = 5

// sayClosed warns at who is disabled of the keys that this closes.
func (c *compiler) sayClosed(closed map[resource.Ref][]string) {
	for _, doc := range c.docs {
		names := closed[refOf(doc.Object)]
		switch n := len(names); {
		case n == 1:
			c.warn(doc, CodeOwnerDisabled, "enabled", "while it is disabled 1 key admits nobody: %s", names[0])
		case n > 1:
			slices.Sort(names)
			more := ""
			if n > maxNamed {
				names, more = names[:maxNamed], ", …"
			}
			c.warn(doc, CodeOwnerDisabled, "enabled", "while it is disabled %d keys admit nobody: %s%s", n, strings.Join(names, ", "), more)
		}
	}
}
