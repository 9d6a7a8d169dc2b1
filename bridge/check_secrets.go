package bridge

import (
	"context"
	"fmt"
	"strings"

	"planbridge/config"
)

// weakSecret ends the words about one.
const weakSecret = "; the next major version refuses it. Make one with: openssl rand -hex 32"

// secrets says which of the configuration's secrets are weak.
func (k *checker) secrets(_ context.Context, r *findings) {
	for _, w := range k.config.Weaknesses() {
		r.fault("%s is weak: %s%s", w.Path, w.Reason, weakSecret)
	}
}

// warnWeak warns of weak secrets.
func (a *App) warnWeak(c *config.Config) {
	for _, w := range c.Weaknesses() {
		a.log.Warn("a secret is weak: the next major version refuses it", "key", w.Path, "reason", w.Reason)
	}
}

// believed says with which secrets the deliveries of a route's repositories are believed,
// where the configuration tells repositories apart.
func (k *checker) believed(r *findings, repository string) {
	g := &k.config.GitHub
	if len(g.Webhooks) == 0 {
		return
	}
	of := g.WebhooksOf(repository)
	if of < 0 {
		r.ok("its deliveries are believed with github.webhook_secrets")
	} else {
		r.ok("its deliveries are believed with %s", webhooksName(g, of))
	}
	owner, name, _ := strings.Cut(strings.ToLower(repository), "/")
	if !strings.ContainsAny(name, "*?[") {
		return
	}
	for i := range g.Webhooks {
		for _, entry := range g.Webhooks[i].Repositories {
			if o, n, exact := strings.Cut(strings.ToLower(entry), "/"); exact && n != "*" && o == owner && i != of {
				r.ok("those of %s are believed with %s", entry, webhooksName(g, i))
			}
		}
	}
}

// webhooksName names an entry of github.webhooks by its key and its repositories.
func webhooksName(g *config.GitHub, i int) string {
	return fmt.Sprintf("github.webhooks[%d] (%s)", i, strings.Join(g.Webhooks[i].Repositories, ", "))
}
