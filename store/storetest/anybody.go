package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// Anybody uses a project at random. It makes and shows links, claims keys and ends claims in every
// way. It is for one goroutine.
type Anybody struct {
	Store   store.Store
	Project mapping.ObjectID
	*rand.Rand
	claims []*store.Claim
}

// anybodyIssues is the number of issues that Anybody uses. They are few, so that operations meet.
const anybodyIssues = 40

// Act does one operation. A refusal that the contract allows is no error.
func (a *Anybody) Act(ctx context.Context) error {
	var err error
	switch a.IntN(8) {
	case 0, 1:
		err = a.observe(ctx)
	case 2:
		var c *store.Claim
		c, _, err = a.Store.Claim(ctx, a.Project, time.Hour)
		a.keep(c)
	case 3:
		err = a.look(ctx)
	case 4:
		_, err = a.Store.Wake(ctx, a.Project, "github", 0)
	default:
		err = a.work(ctx)
	}
	for _, allowed := range []error{store.ErrNotFound, store.ErrConflict, store.ErrLeaseLost, store.ErrFull} {
		if errors.Is(err, allowed) {
			return nil
		}
	}
	return err
}

func (a *Anybody) keep(c *store.Claim) {
	if c != nil {
		a.claims = append(a.claims, c)
	}
}

func (a *Anybody) issue() mapping.IssueID {
	n := a.IntN(anybodyIssues)
	return mapping.IssueID{ID: int64(5000 + n), Repo: "acme/web", Number: n + 1, Author: anyAuthor(n), Born: anyBirth(n)}
}

// The numbers of authors, times of creation and titles of Anybody's issues.
const anyAuthors, anyBirths, anyTitles = 3, 5, 3

func anyAuthor(n int) string   { return fmt.Sprint("user", n%anyAuthors) }
func anyBirth(n int) time.Time { return time.Unix(int64(1_700_000_000+n%anyBirths), 0).UTC() }
func anyTitle(n int) string    { return fmt.Sprint("Title ", n%anyTitles) }

// anyTraits are all traits that Anybody's issues can have.
func anyTraits() (all []mapping.Trait) {
	for author := range anyAuthors {
		for n := range max(anyBirths, anyTitles) {
			all = append(all, mapping.IssueTraits(anyAuthor(author), anyTitle(n), anyBirth(n))...)
		}
	}
	return all
}

// observe shows an issue, which makes its link where there is none.
func (a *Anybody) observe(ctx context.Context) error {
	l := &mapping.Link{ID: mapping.LinkID(mapping.NewID()), Project: a.Project, Pair: mapping.Pair{State: mapping.Entering, Issue: a.issue()}}
	a.change(l)
	_, err := a.Store.Observe(ctx, a.Project, []store.Observation{{
		Refs: l.Refs(), Create: l, Bulk: a.IntN(2) == 0, Event: []byte("event"), Delay: time.Duration(a.IntN(2)) * time.Minute,
	}})
	return err
}

// look claims or enqueues the key of an issue.
func (a *Anybody) look(ctx context.Context) error {
	id, err := a.Store.Find(ctx, a.Project, mapping.IssueRef(a.issue().ID))
	if err != nil {
		return err
	}
	key := store.Key{Project: a.Project, Link: id}
	if a.IntN(2) == 0 {
		return a.Store.Enqueue(ctx, key, 0, a.IntN(2) == 0)
	}
	c, err := a.Store.ClaimKey(ctx, key, time.Hour)
	a.keep(c)
	return err
}

// change changes all indexed values of a link.
func (a *Anybody) change(l *mapping.Link) {
	l.Route = []string{"acme/web", "acme/api", "third"}[a.IntN(3)]
	l.State = mapping.LinkStates[a.IntN(len(mapping.LinkStates))]
	title := anyTitle(a.IntN(anyTitles))
	l.Base = map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: title, Planning: title}}
	if l.SubLinks = nil; a.IntN(4) == 0 {
		p := mapping.NewPart(mapping.GitHub, mapping.NewNonceIn(l.Project), time.Unix(1_700_000_000, 0).UTC())
		p.State, p.Issue, p.Base = mapping.Linked, a.issue(), l.Base
		l.SubLinks = []*mapping.Pair{p}
	}
}

// work saves or ends one of the claims.
func (a *Anybody) work(ctx context.Context) error {
	if len(a.claims) == 0 {
		return nil
	}
	i := a.IntN(len(a.claims))
	c := a.claims[i]
	link := *c.Link
	a.change(&link)
	if a.IntN(2) == 0 {
		return a.Store.Save(ctx, c, &link)
	}
	a.claims = append(a.claims[:i:i], a.claims[i+1:]...)
	out := store.Outcome{
		Kind:    []store.OutcomeKind{store.Done, store.Retry, store.Again, store.Wait, store.Park, store.Hold, store.Erase, store.Remove}[a.IntN(8)],
		Service: "github", Reason: "reason",
	}
	what := &link
	if a.IntN(3) == 0 {
		what = nil
	}
	if a.IntN(2) == 0 {
		return a.Store.Finish(ctx, c, what, nil, out)
	}
	next, err := a.Store.FinishAndClaim(ctx, c, what, nil, out, time.Hour)
	a.keep(next)
	return err
}

// testTallyCrowd has many goroutines use a project at random during repeated repairs, and compares
// the tally at the end.
func testTallyCrowd(f *fixture) {
	const people, acts, repairs = 4, 150, 10
	seed := rand.Uint64()
	f.Logf("seed %d", seed)
	var repaired sync.WaitGroup
	repaired.Go(func() {
		for range repairs {
			if err := f.Repair(f.ctx, f.project); err != nil {
				f.Errorf("Repair: %v", err)
			}
		}
	})
	f.together(people, func(i int) error {
		a := &Anybody{Store: f.Store, Project: f.project, Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		for range acts {
			if err := a.Act(f.ctx); err != nil {
				return err
			}
		}
		return nil
	})
	repaired.Wait()
	if d := IndexDiff(f.ctx, f.Store, f.project); d != "" {
		f.Errorf("seed %d: %s", seed, d)
	}
}
