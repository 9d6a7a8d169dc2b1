package config

import (
	"fmt"
	"regexp"
	"strings"
)

// WebhooksOf returns the index of the Webhooks entry with a repository's secrets (or those of all
// repositories in a glob), or -1 for WebhookSecrets. An entry that names the repository has
// precedence over one that names its owner.
func (g *GitHub) WebhooksOf(repository string) int {
	owner, _, _ := strings.Cut(repository, "/")
	for _, name := range []string{strings.ToLower(repository), strings.ToLower(owner)} {
		for i := range g.Webhooks {
			for _, entry := range g.Webhooks[i].Repositories {
				if webhookName(entry) == name {
					return i
				}
			}
		}
	}
	return -1
}

// WebhookSecretOf returns the first secret of a repository, or of all of an owner's.
func (g *GitHub) WebhookSecretOf(repository string) string {
	secrets := g.WebhookSecrets
	if of := g.WebhooksOf(repository); of >= 0 {
		secrets = g.Webhooks[of].Secrets
	}
	if len(secrets) == 0 {
		return ""
	}
	return secrets[0].Reveal()
}

// webhookName is the name in an entry: owner/name, or an owner.
func webhookName(entry string) string { return strings.ToLower(strings.TrimSuffix(entry, "/*")) }

var webhookRepository = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}(/(\*|[A-Za-z0-9_.-]{1,100}))?$`)

func wantWebhookRepository(s string) string {
	return wantMatch(webhookRepository, s, "owner/name, or owner/* or owner for all of an owner's repositories")
}

// webhooks checks that each route has secrets for its deliveries, and that no repository has two
// groups of them.
func (k *checker) webhooks(c *Config) {
	g := &c.GitHub
	named := map[string]string{} // from each name to the path of its entry
	for i, w := range g.Webhooks {
		path := fmt.Sprintf("github.webhooks[%d]", i)
		if len(w.Repositories) == 0 && !k.failed(path+".repositories") {
			k.fault(path+".repositories", "nothing", "a list of one or more of owner/name, owner/* and owner")
		}
		k.texts(path+".repositories", w.Repositories, wantWebhookRepository)
		for j, entry := range w.Repositories {
			at := fmt.Sprintf("%s.repositories[%d]", path, j)
			if first, doubled := named[webhookName(entry)]; doubled {
				k.fault(at, quote(entry), "what no other entry names: "+first+" does already")
				continue
			}
			named[webhookName(entry)] = at
		}
		k.secrets(path+".secrets", w.Secrets)
	}
	if len(g.Webhooks) == 0 || len(g.WebhookSecrets) > 0 {
		k.secrets("github.webhook_secrets", g.WebhookSecrets)
		return
	}
	for i := range c.Routes {
		for _, repository := range c.Routes[i].Patterns() {
			if repository != "" && g.WebhooksOf(repository) < 0 {
				k.fault("github.webhook_secrets", "nothing", fmt.Sprintf(
					"a list of one secret or more: github.webhooks names no secret for %s (%s)", quote(repository), k.src.route(i)))
				return
			}
		}
	}
}

// secrets checks a list that needs at least one secret.
func (k *checker) secrets(path string, list []Secret) {
	if len(list) == 0 && !k.failed(path) {
		k.fault(path, "nothing", "a list of one secret or more, each env:NAME or file:PATH")
	}
	for i, s := range list {
		k.secret(fmt.Sprintf("%s[%d]", path, i), s)
	}
}
