package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// former finds the links that an issue may have belonged to before it was
// transferred without a word. A transfer keeps the author, and the title or
// the time of creation. It is safe for concurrent use.
type former struct {
	turn  guard.Turn
	asOf  time.Time
	links map[uint64][]store.Key
}

// formerPage is how many links are read at a time, maxFormers how many
// candidates are asked for on GitHub.
const formerPage, maxFormers = 500, 20

// formerAge bounds how old the list of links may be that candidates are taken
// from, and how far the clocks may differ.
const formerAge = 10 * time.Minute

// traits are what an issue has in common with what it was.
func traits(author, title string, born time.Time) []uint64 {
	sum := func(kind, value string) uint64 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\x00%s\x00%s", author, kind, value) //nolint:errcheck // a hash takes everything
		return h.Sum64()
	}
	out := []uint64{sum("title", mapping.CanonicalTitle(title))}
	if !born.IsZero() {
		out = append(out, sum("born", strconv.FormatInt(born.Unix(), 10)))
	}
	return out
}

// candidates returns the links, as they were at a time or later, whose issue
// has a trait of this one.
func (f *former) candidates(ctx context.Context, r *Reconciler, asOf time.Time, issue *mapping.Issue) ([]store.Key, error) {
	if err := f.turn.Take(ctx); err != nil {
		return nil, err
	}
	defer f.turn.End()
	if f.asOf.Before(asOf) {
		began, links := time.Now(), map[uint64][]store.Key{}
		for _, project := range r.Projects() {
			if err := collect(ctx, r.Store, project, links); err != nil {
				return nil, err
			}
		}
		f.asOf, f.links = began, links
	}
	var out []store.Key
	seen := map[store.Key]bool{}
	for _, t := range traits(issue.Author, issue.Title, issue.CreatedAt) {
		for _, key := range f.links[t] {
			if !seen[key] && len(out) < maxFormers {
				seen[key] = true
				out = append(out, key)
			}
		}
	}
	return out, nil
}

func collect(ctx context.Context, s store.Store, project mapping.ObjectID, into map[uint64][]store.Key) error {
	for cursor := ""; ; {
		links, next, err := s.List(ctx, project, cursor, formerPage)
		if err != nil {
			return fmt.Errorf("list links: %w", err)
		}
		for _, l := range links {
			for _, pair := range pairs(l) {
				for _, t := range traits(pair.Issue.Author, pair.Base[mapping.Title].GitHub, pair.Issue.Born) {
					into[t] = append(into[t], store.Key{Project: project, Link: l.ID})
				}
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

// pairs are a root link and its parts, as far as they have issues.
func pairs(l *mapping.Link) []*mapping.Link {
	return slices.DeleteFunc(append([]*mapping.Link{l}, l.Parts...), func(p *mapping.Link) bool {
		return p.Issue.ID == 0 || p.State == mapping.Entering
	})
}

// formerly looks, before an unknown issue enters, whether it is what another
// link's issue has become; then that link takes it. An issue whose opening was
// told was nothing else before.
func (w *work) formerly(ctx context.Context) error {
	if w.opened {
		return nil
	}
	keys, err := w.former.candidates(ctx, w.Reconciler, w.movedBy(), w.issue)
	if err != nil {
		return err
	}
	if len(keys) > 0 && !w.fresh {
		if err := w.readIssue(ctx); err != nil { // what a late event shows may have moved on
			return err
		}
	}
	for _, key := range keys {
		link, err := w.Store.Link(ctx, key)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read link: %w", err)
		}
		for _, pair := range pairs(link) {
			if !slices.ContainsFunc(traits(pair.Issue.Author, pair.Base[mapping.Title].GitHub, pair.Issue.Born), w.hasTrait) {
				continue
			}
			switch was, err := w.was(ctx, pair); {
			case err != nil:
				return err
			case was:
				return w.handOver(ctx, key, pair)
			}
		}
	}
	return nil
}

func (w *work) hasTrait(t uint64) bool {
	return slices.Contains(traits(w.issue.Author, w.issue.Title, w.issue.CreatedAt), t)
}

// was reports whether the issue of another pair has become this one: that pair has
// it by now, its place redirects here, or nothing is there any more and what cannot
// be made twice is the same, author, title and time of creation.
func (w *work) was(ctx context.Context, pair *mapping.Link) (bool, error) {
	if pair.Issue.ID == w.issue.ID {
		return true, nil
	}
	var moved *mapping.MovedError
	issue, err := w.atGitHub().Issue(ctx, pair.Issue.Repo, pair.Issue.Number)
	if err == nil {
		err = another(&pair.Issue, &issue)
	}
	if errors.As(err, &moved) && moved.Issue != nil {
		return moved.Issue.ID == w.issue.ID, nil
	}
	if isGone(err) {
		same := mapping.CanonicalTitle(pair.Base[mapping.Title].GitHub) == mapping.CanonicalTitle(w.issue.Title)
		return same && pair.Issue.Author == w.issue.Author && pair.Issue.Born.Equal(w.issue.CreatedAt) && !pair.Issue.Born.IsZero(), nil
	}
	if err != nil && !unreachable(err) {
		return false, onGitHub(err)
	}
	return false, nil
}

// movedBy is when the issue was transferred at the latest, if it was: before
// anything of it was seen, and, since a transfer counts as an update, not after
// its last one. What is not known for sure is bounded: an import of many old
// issues must not list all links for each.
func (w *work) movedBy() time.Time {
	by := w.link.Created
	if updated := w.issue.UpdatedAt.Add(formerAge); updated.Before(by) {
		by = updated
	}
	if oldest := time.Now().Add(-formerAge); by.Before(oldest) {
		by = oldest
	}
	return by
}

// handOver tells another link that this issue is what its own has become, and
// ends this one.
func (w *work) handOver(ctx context.Context, key store.Key, to *mapping.Link) error {
	edit := mapping.Edit{Look: "transferred", Item: mapping.IssueRef(to.Issue.ID)}
	why := "another link has it"
	if to.Issue.ID != w.issue.ID {
		edit.Moved, why = mapping.NewMove(to.Issue.ID, w.issue), "it is "+where(to)+", transferred"
	}
	event, err := json.Marshal(edit)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	got, err := w.Store.Observe(ctx, key.Project, []store.Observation{{Refs: []mapping.Ref{mapping.IssueRef(to.Issue.ID)}, Event: event}})
	if err == nil {
		err = got[0].Err
	}
	if err != nil {
		return fmt.Errorf("hand over to link %s: %w", key, err)
	}
	w.Metrics.Prevented.WithLabelValues("transfer").Inc()
	return w.refuse(why)
}
