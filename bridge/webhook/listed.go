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

// Listed takes in issues that a listing showed, by the rules of a webhook.
// private tells whether only members can read their repository; it is asked
// only where that decides. After an error some of them may not have been
// stored; taking them in again is harmless.
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

// Marked reports whether an issue carries a marker of those that the bridge
// gives the issues it makes.
func (in *Intake) Marked(issue *mapping.Issue) bool { return in.o.Settings.Keys().Marked(issue.Body) }

// Adopt takes in all marked issues of several repositories, listed after the
// store was lost while the bridge's own account is not known. Of those with the
// same marker the oldest is taken for the one that the bridge made; the others
// are copies, which is reported.
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

// partner is the card or task that the foremost marker of an issue names.
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
			continue // it is told once; the others are taken in
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

// observeListed stores a batch. Where a key is spoilt in the store the observations go one
// by one, so that its issue alone is set aside.
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
