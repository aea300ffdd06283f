package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/interlock-gateway/interlock/internal/app"
	"github.com/interlock-gateway/interlock/internal/config"
)

// consoleURL is where a browser finds the console.
func consoleURL(a *app.App, c *config.Config) string {
	return strings.TrimSuffix(cmp.Or(c.Server.PublicURL, reachable(a.AdminAddr())), "/") + "/console/"
}

// setupLink is the link that makes the first administrator; empty if there is
// one already. The token is in the part of the URL that browsers send nobody.
func setupLink(a *app.App, c *config.Config) string {
	token, ok := a.SetupToken()
	if !ok {
		return ""
	}
	return consoleURL(a, c) + "setup#token=" + token.Reveal()
}

// offerSetup says how to get into a console that nobody can sign in to.
func (e *environment) offerSetup(link string) {
	if link != "" {
		fmt.Fprintf(e.out, "Nobody can sign in to the console yet. Make its administrator within an hour, in a browser:\n  %s\n", e.paint(green, link))
	}
}
