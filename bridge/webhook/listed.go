package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// Listed stores issues of a listing, by the rules of a webhook. It calls private only where a
// decision needs it: private reports whether only members can read the repository. After an error
// some issues may not be stored. Repeating the call is harmless.
func (in *Intake) Listed(ctx context.Context, issues []mapping.Issue, private func() (bool, error)) error {
	observations := make([]issueObservation, len(issues))
	for i := range issues {
		observations[i] = issueObservation{issue: &issues[i], listed: true, public: func() (bool, error) {
			only, err := private()
			return !only, err
		}}
	}
	return in.listed(ctx, observations)
}

// Marked reports whether an issue has a marker that the bridge gives the issues it makes.
func (in *Intake) Marked(issue *mapping.Issue) bool { return in.o.Settings.Keys().Marked(issue.Body) }

// Adopt stores all marked issues of several repositories, listed after the store was lost while
// the bridge's own account is unknown. Of issues with one marker it takes the oldest for the
// bridge's. It reports the others as copies.
func (in *Intake) Adopt(ctx context.Context, issues []mapping.Issue) error {
	slices.SortFunc(issues, func(a, b mapping.Issue) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	first := map[string]*mapping.Issue{} // by partner
	var observations []issueObservation
	for i := range issues {
		partner := in.partner(&issues[i])
		if own := first[partner]; own != nil {
			in.o.Logger.Warn("an issue carries the marker of an older one: it is taken for a copy",
				"repo", issues[i].Repo, "issue", issues[i].Number, "original_repo", own.Repo, "original", own.Number)
			continue
		}
		first[partner] = &issues[i]
		observations = append(observations, issueObservation{issue: &issues[i], proven: true, public: func() (bool, error) { return true, nil }})
	}
	return in.listed(ctx, observations)
}

// partner is the card or task in the first marker of an issue.
func (in *Intake) partner(issue *mapping.Issue) string {
	_, marks := in.o.Settings.Keys().Body(issue.Body)
	for _, m := range marks {
		if m.Kind == mapping.MarkIssue || m.Kind == mapping.MarkSubIssue {
			return m.Partner
		}
	}
	return ""
}

func (in *Intake) listed(ctx context.Context, observations []issueObservation) error {
	batches := map[mapping.ObjectID][]routed{}
	for _, s := range observations {
		var p routed
		err := in.o.Guard.Do("listed issue", issueName(s.issue), func() (err error) {
			p, err = in.resolveLink(ctx, s)
			return err
		})
		if guard.Panicked(err) {
			continue // the guard reported it; go on with the others
		}
		if err != nil {
			return fmt.Errorf("take in %s#%d: %w", s.issue.Repo, s.issue.Number, err)
		}
		if p.project != "" {
			batches[p.project] = append(batches[p.project], p)
		}
	}
	for project, batch := range mapping.Sorted(batches) {
		if err := in.observeListed(ctx, project, batch); err != nil {
			return fmt.Errorf("take in listed issues: %w", err)
		}
	}
	return nil
}

func issueName(i *mapping.Issue) string { return i.Repo + "#" + strconv.Itoa(i.Number) }

// observeListed stores a batch. Where a key is spoilt in the store, it stores the observations
// one by one, so that only its issue is skipped.
func (in *Intake) observeListed(ctx context.Context, project mapping.ObjectID, batch []routed) error {
	_, err := in.observe(ctx, project, batch)
	if !errors.Is(err, store.ErrSpoilt) {
		return err
	}
	for i := range batch {
		_, err := in.observe(ctx, project, batch[i:i+1])
		if err != nil && !errors.Is(err, store.ErrSpoilt) {
			return err
		}
		in.o.Guard.Report("observation of", issueName(batch[i].seen.issue), err)
	}
	return nil
}
