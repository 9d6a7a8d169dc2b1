package reconcile

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"planbridge/mapping"
)

// join makes the issue that the bridge made for a task a sub-issue of the
// root's issue. It is repeated until GitHub says yes or no: adding one twice
// does no harm. All of a root's are added one after the other, under its lease.
func (w *work) join() error {
	if !w.pair.Join || w.pair.State != mapping.Linked || w.set.DryRun {
		return nil
	}
	return w.try("sub-issues", func() error {
		root := w.root.owner.Issue
		if err := w.writing(); err != nil {
			return err
		}
		err := done(w, AddSubIssue{root.Repo, root.Number, w.owner.Issue.ID})
		var refused *mapping.Rejection
		if !errors.As(err, &refused) {
			if err == nil {
				w.settled("it is a sub-issue of " + issueName(root.Repo, root.Number))
				w.pair.Parent = root.ID
				return nil
			}
			return onGitHub(fmt.Errorf("add sub-issue to %s: %w", issueName(root.Repo, root.Number), err))
		}
		switch words := strings.ToLower(refused.Words); {
		case strings.Contains(words, "priority"):
			return later(time.Second, "another sub-issue was added at the same moment")
		case strings.Contains(words, "duplicate"):
			w.settled("it is a sub-issue of " + issueName(root.Repo, root.Number) + " already")
		default: // too many, too deep, or another parent: it stays on its own, with its task
			w.settled("it does not become a sub-issue of " + issueName(root.Repo, root.Number) + ": " + refused.Error())
		}
		return nil
	})
}

// settled notes that GitHub has said its last word about the sub-issue's place.
func (w *work) settled(how string) {
	w.pair.Join = false
	w.note(mapping.GitHub, "", "join", how)
}
