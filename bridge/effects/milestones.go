package effects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/engine"
	"planbridge/bridge/guard"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// docMilestones names the document of a project with its book of milestones.
const docMilestones = "milestones"

// milestoneBook has the milestone of each sprint, by repository (in lower case) and sprint. One
// replica at a time writes it and the milestones, under a lease.
type milestoneBook map[string]map[mapping.ObjectID]milestoneEntry

type milestoneEntry struct {
	Number int    `json:"n,omitempty"` // 0: no milestone is known
	Digest string `json:"d,omitempty"` // digest of the sprint that the milestone shows
	// Sent is when a create without a known answer was sent.
	Sent time.Time `json:"sent,omitzero"`
	// Idle is when RetireMilestones first found that nothing needs the entry.
	Idle time.Time `json:"idle,omitzero"`
}

func (b milestoneBook) entry(repo string, sprint mapping.ObjectID) milestoneEntry {
	return b[strings.ToLower(repo)][sprint]
}

// sprints reads a project's sprints as the last poll saw them.
func (s *Shell) sprints(ctx context.Context, project mapping.ObjectID) (sprints []mapping.Sprint, err error) {
	_, err = store.ReadJSON(ctx, s.Store, project, store.DocSprints, &sprints)
	return sprints, err
}

func (s *Shell) readBook(ctx context.Context, project mapping.ObjectID) (b milestoneBook, err error) {
	_, err = store.ReadJSON(ctx, s.Store, project, docMilestones, &b)
	return b, err
}

// openBook is the book under its lease.
type openBook struct {
	milestoneBook
	s       *Shell
	project mapping.ObjectID
	set     *reconcile.Settings
}

// releaseWithin bounds the release of a lease on milestones.
const releaseWithin = 3 * time.Second

// withBook runs do while no other worker of any replica writes the project's milestones. It ends
// before the lease on them.
func (s *Shell) withBook(ctx context.Context, project mapping.ObjectID, do func(context.Context, *openBook) error) error {
	if s.Session != nil {
		session, err := s.Session.Current()
		if err != nil {
			return fmt.Errorf("milestones: %w", err)
		}
		bound, unbind := s.Session.Bound(ctx, session)
		defer unbind()
		ctx = bound
	}
	name, owner := "milestones:"+string(project), mapping.NewID()
	until := s.Clock.Now().Add(s.LeaseTTL - engine.LeaseMargin(s.LeaseTTL))
	held, err := s.Store.Acquire(ctx, name, owner, s.LeaseTTL)
	if err != nil {
		return fmt.Errorf("lease %s: %w", name, err)
	}
	if !held {
		return reconcile.Later(reconcile.MilestonesWait, "another worker writes the milestones")
	}
	defer func() {
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
		defer cancel()
		if err := s.Store.Release(release, name, owner); err != nil {
			s.Logger.Warn("releasing a lease", "lease", name, "err", err)
		}
	}()
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	b, err := s.readBook(ctx, project)
	if err != nil {
		return err
	}
	if b == nil {
		b = milestoneBook{}
	}
	return do(ctx, &openBook{b, s, project, s.Settings.Settings()})
}

// put writes a sprint's milestone where needed, and notes it in the book. existing are the
// repository's present milestones.
//
// A milestone is made once. Its marker identifies it among the existing ones. The book notes each
// create before it is sent. After a lost answer, no second create is sent until the first one
// must show in the listing. GitHub takes each title once, which is the last guard.
func (b *openBook) put(ctx context.Context, repo string, sprint mapping.Sprint, existing []mapping.Milestone) (int, error) {
	e := b.entry(repo, sprint.ID)
	existing, unmarked := b.marked(existing, e.Number, sprint.ID)
	want, write := mapping.ProjectMilestone(sprint, existing, b.set.Keys)
	if want.Number == 0 {
		if wait := b.set.Settle.GitHub - b.s.Clock.Now().Sub(e.Sent); wait > 0 && !e.Sent.IsZero() {
			return 0, reconcile.Later(wait, "a milestone may still be under way")
		}
		if err := b.note(ctx, repo, sprint.ID, milestoneEntry{Sent: b.s.Clock.Now().UTC()}); err != nil {
			return 0, err
		}
	}
	if write || unmarked {
		made, err := b.s.GitHub.PutMilestone(ctx, repo, want)
		if err != nil {
			if want.Number == 0 && reconcile.Certain(err) {
				err = errors.Join(err, b.note(ctx, repo, sprint.ID, milestoneEntry{}))
			}
			return 0, reconcile.OnGitHub(fmt.Errorf("milestone of sprint %s in %s: %w", sprint.ID, repo, err))
		}
		b.s.Logger.Info("milestone", "repo", repo, "number", made.Number, "title", made.Title, "state", want.State)
		want.Number = made.Number
	}
	return want.Number, b.note(ctx, repo, sprint.ID, milestoneEntry{Number: want.Number, Digest: sprintDigest(sprint)})
}

// marked restores, for the comparison, the marker of a known milestone whose description somebody
// rewrote.
func (b *openBook) marked(existing []mapping.Milestone, number int, sprint mapping.ObjectID) (all []mapping.Milestone, unmarked bool) {
	if _, found := mapping.FindMilestone(existing, sprint, b.set.Keys); found || number == 0 {
		return existing, false
	}
	all = slices.Clone(existing)
	for i := range all {
		if m := &all[i]; m.Number == number {
			m.Description = b.set.Keys.AppendComment(m.Description, mapping.Marker{Kind: mapping.MarkSprint, Partner: string(sprint)})
			unmarked = true
		}
	}
	return all, unmarked
}

// note writes an entry of the book.
func (b *openBook) note(ctx context.Context, repo string, sprint mapping.ObjectID, e milestoneEntry) error {
	repo = strings.ToLower(repo)
	if b.milestoneBook[repo] == nil {
		b.milestoneBook[repo] = map[mapping.ObjectID]milestoneEntry{}
	}
	b.milestoneBook[repo][sprint] = e
	return b.write(ctx)
}

// forget removes a repository from the book.
func (b *openBook) forget(ctx context.Context, repo string) error {
	delete(b.milestoneBook, repo)
	return b.write(ctx)
}

func (b *openBook) write(ctx context.Context) error {
	return store.WriteJSON(ctx, b.s.Store, b.project, docMilestones, b.milestoneBook)
}

func sprintDigest(s mapping.Sprint) string {
	return mapping.DigestText(string(store.Encode(s)))
}

// Milestones updates the milestones of a project's sprints to what the last poll saw. It makes
// none: the work on a card of the sprint does. After an error some may be stale, and the caller
// must call it again.
func (s *Shell) Milestones(ctx context.Context, project mapping.ObjectID) error {
	sprints, err := s.sprints(ctx, project)
	if err != nil {
		return err
	}
	book, err := s.readBook(ctx, project)
	if err != nil || s.Settings.Settings().DryRun {
		return err
	}
	var errs []error
	for _, repo := range slices.Sorted(maps.Keys(book)) {
		stale := slices.DeleteFunc(slices.Clone(sprints), func(sprint mapping.Sprint) bool {
			e := book.entry(repo, sprint.ID)
			return e.Number == 0 || e.Digest == sprintDigest(sprint)
		})
		if len(stale) == 0 || !s.showsIn(ctx, project, repo) {
			continue
		}
		errs = append(errs, s.withBook(ctx, project, func(ctx context.Context, b *openBook) error {
			err := b.putAll(ctx, repo, stale)
			if reconcile.IsGone(err) || errors.Is(err, mapping.ErrMoved) {
				return b.forget(ctx, repo) // the repository has another name now, and the marker identifies the milestone there
			}
			return err
		}))
	}
	return errors.Join(errs...)
}

// putAll updates several milestones of one repository, the earlier sprint first.
func (b *openBook) putAll(ctx context.Context, repo string, sprints []mapping.Sprint) error {
	existing, err := b.s.GitHub.Milestones(ctx, repo)
	if err != nil {
		return fmt.Errorf("milestones of %s: %w", repo, err)
	}
	slices.SortStableFunc(sprints, func(x, y mapping.Sprint) int { return cmp.Compare(x.End.Unix(), y.End.Unix()) })
	for _, s := range sprints {
		if _, found := mapping.FindMilestone(existing, s.ID, b.set.Keys); !found {
			known := b.entry(repo, s.ID).Number
			if !slices.ContainsFunc(existing, func(m mapping.Milestone) bool { return m.Number == known }) {
				continue // somebody deleted it; it is made anew where a card needs it
			}
		}
		var number int
		err := b.s.Guard.Do("milestone of sprint", string(s.ID), func() (err error) {
			number, err = b.put(ctx, repo, s, existing)
			return err
		})
		if guard.Panicked(err) {
			continue // the guard reported it once; go on with the others
		}
		if err != nil {
			return err
		}
		want, _ := mapping.ProjectMilestone(s, existing, b.set.Keys)
		for i := range existing {
			if existing[i].Number == number {
				existing[i].Title = want.Title
			}
		}
	}
	return nil
}

// showsIn reports whether a route shows planning's side in a repository. The name must still
// stand for that repository.
func (s *Shell) showsIn(ctx context.Context, project mapping.ObjectID, repo string) bool {
	near := slices.DeleteFunc(s.Settings.Settings().Routes.ForRepo(repo), func(route *mapping.Route) bool {
		return route.Project != project || route.Direction == mapping.ToPlanning
	})
	if len(near) == 0 {
		return false
	}
	if now, err := s.GitHub.Locate(ctx, repo, 0, false); err != nil || !strings.EqualFold(now, repo) {
		return false
	}
	if slices.ContainsFunc(near, func(route *mapping.Route) bool { return route.AllowPublic }) {
		return true
	}
	public, known := s.GitHub.Public(ctx, repo, true)
	return known && !public
}

// knownMilestone reads the number of a sprint's milestone; 0: unknown.
func (h *executor) knownMilestone(e reconcile.KnownMilestone) (int, error) {
	book, err := h.readBook(h.ctx, e.Project)
	return book.entry(e.Repo, e.Sprint).Number, err
}

// sprint reads a sprint from the last listing; nil: the listing lacks it.
func (h *executor) sprint(e reconcile.ReadSprint) (*mapping.Sprint, error) {
	sprints, err := h.sprints(h.ctx, e.Project)
	i := slices.IndexFunc(sprints, func(s mapping.Sprint) bool { return s.ID == e.Sprint })
	if i < 0 {
		return nil, err
	}
	return &sprints[i], err
}

// ensureMilestone makes a sprint's milestone where there is none. It returns its number.
func (h *executor) ensureMilestone(e reconcile.EnsureMilestone) (number int, err error) {
	err = h.withBook(h.ctx, e.Project, func(ctx context.Context, b *openBook) error {
		if n := b.entry(e.Repo, e.Sprint.ID).Number; n != 0 && n != e.Refused {
			number = n
			return nil
		}
		existing, err := h.GitHub.Milestones(ctx, e.Repo)
		if err != nil {
			return reconcile.OnGitHub(fmt.Errorf("milestones of %s: %w", e.Repo, err))
		}
		number, err = b.put(ctx, e.Repo, e.Sprint, existing)
		return err
	})
	return number, err
}
