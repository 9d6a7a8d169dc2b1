package reconcile

import (
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// Planning's side does not appear where anybody can read it, unless the route says
// allow_public. A repository can be made public after its issues were linked, so each write is
// checked, and not only the first. A write that would publish planning's side is withheld,
// while GitHub's side goes on to planning. A link with something withheld is parked, so that
// an operator sees it. A change takes it up again, and then it is read as a whole. Where it is
// not known whether the repository is public, the same is withheld until that is known.
//
// Nothing is written either where another repository has the name of the intended one (see
// [Locate]).

// mayWrite refuses a write that would publish planning's side against the route's will, or
// that would reach another repository than the intended one.
func (w visibility) mayWrite(write toRepository) error {
	repo, shows := write.repository()
	if err := w.there(repo); err != nil {
		return err
	}
	if shows {
		if err := w.public(repo, true); err != nil {
			return err
		}
	}
	return nil
}

// PublicRepo returns the repository of a [store.Failure] whose link is parked because that
// repository is public.
func PublicRepo(f store.Failure) (repo string, ok bool) { return strings.CutSuffix(f.Reason, isPublic) }

// public refuses a write to a repository that would be published, or may be, against the will of
// the work's route. With ask, GitHub is asked where that is not known. The result nil allows the
// write.
func (w visibility) public(repo string, ask bool) *publicError {
	if w.route == nil || w.route.AllowPublic || !w.route.Writes(mapping.GitHub) || repo == "" {
		return nil
	}
	if now := get(w, ReadPublic{repo, ask}); now.Public || !now.Known {
		return &publicError{repo, !now.Public}
	}
	return nil
}

// mayShow reports whether a route may publish planning's side in a repository that it comes
// to.
func (w visibility) mayShow(route *mapping.Route, repo string) (bool, error) {
	if route.AllowPublic {
		return true, nil
	}
	private, err := do(w, ReadPrivate{repo})
	return private, onGitHub(err)
}

// withhold removes from a plan what it would publish.
func (w visibility) withhold(plan *mapping.Plan) {
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; w.hidden != nil && (d.GitHub != nil || d.Loses) {
			*d = mapping.Decision{Attribute: d.Attribute, Action: mapping.Withheld, Why: w.hidden.Error(), Base: d.Base}
			w.withheld = w.hidden
			if !w.pair.HasIssue() {
				w.root.withheld = w.hidden
			}
		}
	}
}

// keepPrivate ends the work on a key that agrees except for a withheld value.
func (w visibility) keepPrivate(err error) error {
	if err != nil {
		return err
	}
	why := ""
	if w.withheld != nil {
		why = w.withheld.Error()
	}
	switch {
	case why == "" && (strings.HasSuffix(w.pair.Why, isPublic) || strings.HasSuffix(w.pair.Why, isUntold)):
		w.pair.Why = ""
		return nil
	case why == "":
		return nil
	case w.pair.Why != why:
		w.note(mapping.GitHub, "", "withheld", why)
	}
	w.pair.Why, w.owner.Unfinished = why, true
	return w.withheld
}

// there refuses a write to a repository that has another name by now, or whose name another
// repository has.
func (w visibility) there(repo string) error {
	id := int64(0)
	if strings.EqualFold(repo, w.owner.Issue.Repo) {
		id = w.owner.Issue.RepoID
	}
	now, err := do(w, Locate{Repo: repo, ID: id})
	if err == nil && !strings.EqualFold(now, repo) {
		err = &mapping.MovedError{Repo: now, Location: now}
	}
	return err
}
