// Package open opens the store of a configuration, and the clients of both services.
//
// The App uses it to open the parts that it keeps open while it runs. A command that finds no
// service running works on a [Store], asks the [Operator], or has the configuration proven through
// [Preflight].
package open

import (
	"planbridge/bridge/github"
	"planbridge/bridge/planning"
	"planbridge/config"
	"planbridge/mapping"
)

// GitHub makes the client of GitHub. Options add to the configuration.
func GitHub(c *config.Config, o github.Options) (*github.Client, error) {
	o.APIURL, o.Token, o.FormerAccounts = c.GitHub.APIURL, c.GitHub.Token.Reveal(), c.GitHub.FormerAccounts
	if app := c.GitHub.App; app != nil {
		o.App = &github.App{ID: app.ID, PrivateKey: []byte(app.PrivateKey.Reveal())}
	}
	return github.New(o)
}

// Planning makes the client of one of the configured projects. Options add to the configuration.
func Planning(c *config.Config, p config.Project, o planning.Options) (*planning.Client, error) {
	o.BaseURL, o.Project, o.Secret = c.Planning.BaseURL, mapping.ObjectID(p.ID), p.Secret.Reveal()
	return planning.New(o)
}
