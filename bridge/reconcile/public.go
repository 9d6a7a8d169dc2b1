package reconcile

import (
	"context"
	"errors"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// What planning says is not shown where anybody can read it, unless the route
// says allow_public. A repository can be made public after its issues were
// linked, so that each write is asked about and not only the first: what would
// show planning's side is withheld, while what GitHub says goes on to planning.
// A link of which something is withheld is parked, so that an operator sees it and
// a change takes it up again; it is looked at as a whole then.

const isPublic = " is public, and the route does not say allow_public"

// PublicRepo returns the repository of a [store.Failure] whose link is parked as
// that repository is public.
func PublicRepo(f store.Failure) (repo string, ok bool) { return strings.CutSuffix(f.Reason, isPublic) }

// publicError refuses a write that would publish planning's side. It is a refusal
// as GitHub's own are, so that what was to be written counts as not sent.
type publicError struct{ repo string }

func (e *publicError) Error() string { return e.repo + isPublic }
func (e *publicError) Unwrap() error { return mapping.ErrForbidden }

// wouldPublish reports that an error is a *publicError.
func wouldPublish(err error) bool { return errors.As(err, new(*publicError)) }

// public reports whether what is written to a repository would be published
// against the will of the work's route, as far as is known; ask: GitHub is asked
// where that is not known.
func (w *work) public(ctx context.Context, repo string, ask bool) bool {
	if w.route == nil || w.route.AllowPublic || !w.route.Writes(mapping.GitHub) || repo == "" {
		return false
	}
	if ask {
		w.sit()
	}
	return w.GitHub.Public(ctx, repo, ask)
}

// publishes reports that a plan would publish planning's side: from then on that is
// withheld. A conflict's comment quotes both sides.
func (w *work) publishes(ctx context.Context, plan mapping.Plan) bool {
	if w.hidden || w.set.DryRun {
		return false
	}
	for _, d := range plan.Decisions {
		if d.GitHub != nil || d.Loses {
			w.hidden = w.public(ctx, w.link.Issue.Repo, true)
			break
		}
	}
	return w.hidden
}

// withhold takes back what a plan would publish.
func (w *work) withhold(plan *mapping.Plan) {
	for i := range plan.Decisions {
		if d := &plan.Decisions[i]; w.hidden && (d.GitHub != nil || d.Loses) {
			*d = mapping.Decision{Attribute: d.Attribute, Action: mapping.Withheld, Why: w.link.Issue.Repo + isPublic, Base: d.Base}
			w.withheld = w.link.Issue.Repo
		}
	}
}

// keepPrivate ends the work on a key of which all is well but that something is
// withheld.
func (w *work) keepPrivate(err error) error {
	if err != nil {
		return err
	}
	why := ""
	if w.withheld != "" {
		why = w.withheld + isPublic
	}
	switch {
	case why == "" && strings.HasSuffix(w.link.Why, isPublic):
		w.link.Why = ""
		return nil
	case why == "":
		return nil
	case w.link.Why != why:
		w.note(mapping.GitHub, "", "withheld", why)
	}
	w.link.Why, w.link.Unfinished = why, true
	return &publicError{w.withheld}
}

// unpublished refuses the writes of GitHub that would show planning's side
// where that is not to be shown, whoever makes them.
type unpublished struct {
	GitHub
	w *work
}

func (u unpublished) check(ctx context.Context, repo string) error {
	if u.w.public(ctx, repo, true) {
		return &publicError{repo}
	}
	return nil
}

func (u unpublished) CreateIssue(ctx context.Context, repo string, issue NewIssue) (mapping.Issue, error) {
	if err := u.check(ctx, repo); err != nil {
		return mapping.Issue{}, err
	}
	return u.GitHub.CreateIssue(ctx, repo, issue)
}

func (u unpublished) EditIssue(ctx context.Context, repo string, number int, edit IssueEdit) (mapping.Issue, error) {
	if err := u.check(ctx, repo); err != nil {
		return mapping.Issue{}, err
	}
	return u.GitHub.EditIssue(ctx, repo, number, edit)
}

func (u unpublished) AddLabels(ctx context.Context, repo string, number int, labels []string) ([]string, error) {
	if err := u.check(ctx, repo); err != nil {
		return nil, err
	}
	return u.GitHub.AddLabels(ctx, repo, number, labels)
}

func (u unpublished) AddSubIssue(ctx context.Context, repo string, number int, sub int64) error {
	if err := u.check(ctx, repo); err != nil {
		return err
	}
	return u.GitHub.AddSubIssue(ctx, repo, number, sub)
}

func (u unpublished) CreateComment(ctx context.Context, repo string, number int, body string) (Comment, error) {
	if err := u.check(ctx, repo); err != nil {
		return Comment{}, err
	}
	return u.GitHub.CreateComment(ctx, repo, number, body)
}

func (u unpublished) EnsureLabel(ctx context.Context, repo, name, color, description string) error {
	if err := u.check(ctx, repo); err != nil {
		return err
	}
	return u.GitHub.EnsureLabel(ctx, repo, name, color, description)
}

func (u unpublished) Assign(ctx context.Context, repo string, number int, logins []string) (mapping.Issue, error) {
	if err := u.check(ctx, repo); err != nil {
		return mapping.Issue{}, err
	}
	return u.GitHub.Assign(ctx, repo, number, logins)
}
