package preflight

import (
	"context"
	"fmt"
	"strings"
)

// weakSecret ends the finding about a weak secret.
const weakSecret = "; the next major version refuses it. Make one with: openssl rand -hex 32"

// secrets reports the configuration's weak secrets.
func (k *checker) secrets(_ context.Context, r *findings) {
	for _, w := range k.Weaknesses {
		r.fault("%s is weak: %s%s", w.Path, w.Reason, weakSecret)
	}
}

// doubts reports values that are probably mistakes.
func (k *checker) doubts(_ context.Context, r *findings) {
	for _, d := range k.Doubts {
		r.warn("%s: %s", d.Path, d.Reason)
	}
}

// believed reports which secrets the deliveries of a route's repositories need, where the
// configuration separates repositories.
func (k *checker) believed(r *findings, repository string) {
	if len(k.Webhooks) == 0 {
		return
	}
	of := k.Trust.WebhooksOf(repository)
	if of < 0 {
		r.ok("its deliveries are believed with github.webhook_secrets")
	} else {
		r.ok("its deliveries are believed with %s", k.webhooksName(of))
	}
	owner, name, _ := strings.Cut(strings.ToLower(repository), "/")
	if !strings.ContainsAny(name, "*?[") {
		return
	}
	for i := range k.Webhooks {
		for _, entry := range k.Webhooks[i] {
			if o, n, exact := strings.Cut(strings.ToLower(entry), "/"); exact && n != "*" && o == owner && i != of {
				r.ok("those of %s are believed with %s", entry, k.webhooksName(i))
			}
		}
	}
}

// webhooksName names an entry of github.webhooks by its key and its repositories.
func (k *checker) webhooksName(i int) string {
	return fmt.Sprintf("github.webhooks[%d] (%s)", i, strings.Join(k.Webhooks[i], ", "))
}
