package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
)

// deliveriesSince is how far back failed deliveries are searched for.
const deliveriesSince = 24 * time.Hour

// hook proves that GitHub reports events of target: a repository, or the account of a glob.
// The webhook may be the repository's, its organisation's or the App's own; not every token
// may read each of them.
func (k *checker) hook(ctx context.Context, r *findings, target string) {
	if k.brief {
		return
	}
	owners := []string{target}
	if owner, _, isRepo := strings.Cut(target, "/"); isRepo {
		owners = append(owners, owner)
	}
	if k.IsApp {
		owners = append(owners, "")
	}
	var unread []string
	for _, owner := range owners {
		hooks, err := k.github.ListHooks(ctx, owner)
		switch {
		case errors.Is(err, mapping.ErrNotFound), errors.Is(err, mapping.ErrForbidden):
			unread = append(unread, hooksOf(owner))
			continue
		case err != nil:
			r.fault("%s cannot be listed: %v", hooksOf(owner), err)
			return
		}
		found := false
		for _, h := range hooks {
			if u, err := url.Parse(h.URL); err == nil && strings.HasSuffix(u.Path, webhookPath) {
				if found = true; owner == "" {
					h.Events = k.sent(target)
				}
				k.oneHook(ctx, r, owner, h, u.Host+u.Path)
			}
		}
		if found {
			return
		}
	}
	if k.HookURL != "" && k.makeHook(ctx, r, target, unread) {
		return
	}
	late := fmt.Sprintf("changes on GitHub would be seen every %v only", k.CatchUpInterval)
	if len(unread) > 0 {
		r.warn("whether there is a webhook cannot be told: the token may not read %s; without one, %s", strings.Join(unread, " and "), late)
		return
	}
	if !strings.Contains(target, "/") {
		r.warn("%s have none whose URL ends in %s, and those of each repository were not looked at: where it has none either, %s", hooksOf(target), webhookPath, late)
		return
	}
	r.fault("there is no webhook whose URL ends in %s: %s", webhookPath, late)
}

// sendsIssues reports whether a webhook sends the events of issues.
func sendsIssues(h Hook) bool {
	return slices.Contains(h.Events, "issues") || slices.Contains(h.Events, "*")
}

// oneHook proves one webhook of planbridge; at is its URL without possible secrets.
func (k *checker) oneHook(ctx context.Context, r *findings, owner string, h Hook, at string) {
	if k.HookURL != "" && h.URL != k.HookURL {
		r.warn("the webhook goes to %s, and not to %s: none was made beside it; change its URL on GitHub", at, k.HookURL)
	}
	switch {
	case !h.Active:
		r.fault("the webhook to %s is switched off", at)
		return
	case !sendsIssues(h):
		r.fault("the webhook to %s does not send issues (it sends: %s)", at, strings.Join(h.Events, ", "))
		return
	case !slices.Contains(h.Events, "*"):
		if missing := k.unsent(h.Events); len(missing) > 0 {
			r.warn("the webhook does not send %s: what they tell is found by the catch-up only", strings.Join(missing, ", "))
		}
	}
	list, err := k.github.Deliveries(ctx, owner, h.ID, r.now.Add(-deliveriesSince))
	if err != nil {
		r.warn("the webhook goes to %s; its deliveries cannot be listed: %v", at, err)
		return
	}
	failed, all, last := failures(list)
	if failed > 0 {
		r.warn("the webhook goes to %s; of %s of the last day %d failed, the newest of them at %s with status %d",
			at, mapping.Count(all, "delivery", "deliveries"), failed, last.DeliveredAt.UTC().Format(time.RFC3339), last.StatusCode)
		return
	}
	r.ok("the webhook goes to %s; of %s of the last day none failed", at, mapping.Count(all, "delivery", "deliveries"))
}

// unsent lists the events beside issues that a webhook should send and does not.
func (k *checker) unsent(events []string) []string {
	return slices.DeleteFunc(k.wanted(), func(event string) bool { return event == "issues" || slices.Contains(events, event) })
}

// failures counts the events whose newest attempt failed; the list is newest
// first. last is the newest of them.
func failures(list []Delivery) (failed, all int, last Delivery) {
	seen := map[string]bool{}
	for _, d := range list {
		if seen[d.GUID] {
			continue
		}
		seen[d.GUID] = true
		if d.StatusCode/100 == 2 {
			continue
		}
		if failed++; failed == 1 {
			last = d
		}
	}
	return failed, len(seen), last
}
