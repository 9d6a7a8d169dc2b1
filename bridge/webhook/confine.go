package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// confine removes from an event the parts that its secret does not cover. A verdict with a result
// says that nothing is left.
//
//	an installation that is not the owner's              dropped
//	its own repository, not covered                      401 where a route is for it, else dropped
//	the other repository of a transfer, not covered      that half is left out
//	a renamed repository, its old name not covered       left out
//	a parent, or a sub-issue, not covered                see confineFamily
func (in *Intake) confine(event string, ev *Event, s signer) (verdict, error) {
	owner, _, _ := strings.Cut(ev.Repo, "/")
	if ev.Installation != 0 && in.o.Accounts.OtherInstallation(owner, ev.Installation) {
		return verdict{result: foreign, why: "it is of another installation of the app"}, nil
	}
	if !s.confined() {
		return verdict{}, nil
	}
	if event == "repository" && ev.OldRepo != "" {
		return in.confineRename(ev, s)
	}
	if ev.Repo != "" && !in.covers(s, ev.Repo, ev.RepoID) {
		return in.uncovered(ev.Repo)
	}
	if ev.Issue != nil && !strings.EqualFold(ev.Issue.Repo, ev.Repo) && ev.Issue.Repo != "" && !s.covers(ev.Issue.Repo) {
		return in.uncovered(ev.Issue.Repo)
	}
	if ev.OldIssue != nil && !s.covers(ev.OldIssue.Repo) {
		ev.OldIssue = nil
	}
	if ev.NewIssue != nil && !s.covers(ev.NewIssue.Repo) {
		ev.NewIssue = nil
	}
	return in.confineFamily(event, ev, s)
}

// covers reports whether the signer's secret covers a repository, by the event's name or by the
// one that its id is known by. One of the two may be a former name. [Intake.identify] tells which.
func (in *Intake) covers(s signer, repo string, id int64) bool {
	known := in.o.Repositories.NameOf(id)
	return s.covers(repo) || known != "" && s.covers(known)
}

// uncovered answers a delivery about a repository that its secret does not cover.
func (in *Intake) uncovered(repo string) (verdict, error) {
	if len(in.o.Settings.Routes().ForRepo(repo)) > 0 {
		return verdict{}, &fault{http.StatusUnauthorized, forged, fmt.Errorf("its secret is not one of %s", clip(repo))}
	}
	return verdict{result: foreign, why: "its secret is not one of its repository, which no route names"}, nil
}

// confineRename allows a rename by a signer that covers the old name, to a name with the same
// secrets or one that no group names.
func (in *Intake) confineRename(ev *Event, s signer) (verdict, error) {
	nobodys := !s.named(ev.Repo) && len(in.o.Settings.Routes().ForRepo(ev.Repo)) == 0
	switch {
	case !s.covers(ev.OldRepo):
		return in.uncovered(ev.OldRepo)
	case !s.covers(ev.Repo) && !nobodys:
		return in.uncovered(ev.Repo)
	}
	return verdict{}, nil
}

// confineFamily keeps the covered part of a `sub_issues` event: a covered sub-issue without its
// parent, and nothing of a covered parent without its sub-issue. The listing of the parent's
// sub-issues finds their relation later.
func (in *Intake) confineFamily(event string, ev *Event, s signer) (verdict, error) {
	if event != "sub_issues" || ev.SubIssue == nil || ev.Parent == nil {
		return verdict{}, nil
	}
	switch {
	case !in.covers(s, ev.SubIssue.Repo, ev.SubIssue.RepoID):
		return verdict{result: foreign, why: "its secret is not one of the sub-issue's repository"}, nil
	case !in.covers(s, ev.Parent.Repo, ev.Parent.RepoID):
		ev.parentLess = true
	}
	return verdict{}, nil
}

// covers returns the check that confines the delivery's observations, or nil where nothing does.
func (d *delivery) covers() func(repo string) bool {
	if !d.signer.confined() {
		return nil
	}
	return d.signer.covers
}

// errForeign keeps a delivery from a link of a repository that its secret does not cover.
var errForeign = errors.New("a link of another repository has its issue's id or marker")

// owned returns errForeign where an observation would reach a link of a repository that its
// signer does not cover. Anybody can copy an id and a marker.
func (in *Intake) owned(ctx context.Context, s issueObservation, obs store.Observation) error {
	if s.covers == nil {
		return nil
	}
	projects, err := in.o.Store.Projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		ids := []mapping.LinkID{obs.Link}
		refs := []mapping.Ref{""}
		for _, ref := range obs.Refs {
			id, err := in.o.Store.Find(ctx, project, ref)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			ids, refs = append(ids, id), append(refs, ref)
		}
		for i, id := range ids {
			if id == "" {
				continue
			}
			l, err := in.o.Store.Link(ctx, store.Key{Project: project, Link: id})
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if !s.covers(in.repositoryOf(l, refs[i])) {
				return errForeign
			}
		}
	}
	return nil
}

// repositoryOf returns the repository of a ref's item in a link. For an issue that is not made
// yet it is the intended one.
func (in *Intake) repositoryOf(l *mapping.Link, ref mapping.Ref) string {
	if part := l.Part(ref); part != nil && part.Issue.Repo != "" {
		return part.Issue.Repo
	}
	if l.Issue.Repo != "" {
		return l.Issue.Repo
	}
	if r := in.o.Settings.Routes().ByName(l.Route); r != nil {
		return r.NewCardsIn
	}
	return ""
}

// reportForeign logs a delivery that errForeign stopped.
func (in *Intake) reportForeign(ctx context.Context, d *delivery) verdict {
	in.log(ctx, slog.LevelWarn, d, "delivery dropped", slog.Any("err", errForeign))
	return verdict{result: foreign, why: errForeign.Error()}
}
