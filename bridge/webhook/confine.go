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

// confine takes from an event what its signer is not believed about. A verdict with a
// result says that nothing is left of it.
//
//	an installation that is not the one of the owner     dropped
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
	repos := []string{ev.Repo}
	if ev.Issue != nil {
		repos = append(repos, ev.Issue.Repo)
	}
	for _, repo := range repos {
		if repo != "" && !s.covers(repo) {
			return in.uncovered(repo)
		}
	}
	if ev.OldIssue != nil && !s.covers(ev.OldIssue.Repo) {
		ev.OldIssue = nil
	}
	if ev.NewIssue != nil && !s.covers(ev.NewIssue.Repo) {
		ev.NewIssue = nil
	}
	return in.confineFamily(event, ev, s)
}

// uncovered is the answer to a delivery about a repository that its secret does not cover.
func (in *Intake) uncovered(repo string) (verdict, error) {
	if len(in.o.Settings.Routes().ForRepo(repo)) > 0 {
		return verdict{}, &fault{http.StatusUnauthorized, forged, fmt.Errorf("its secret is not one of %s", clip(repo))}
	}
	return verdict{result: foreign, why: "its secret is not one of its repository, which no route names"}, nil
}

// confineRename lets a name be left by whoever is believed about it, for a name of the
// same trust, or for one that is nobody's.
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

// confineFamily leaves of a `sub_issues` event what the signer is believed about: of a
// sub-issue without its parent that it is there, of a parent without its sub-issue nothing.
// What joins them is found when the parent's sub-issues are listed.
func (in *Intake) confineFamily(event string, ev *Event, s signer) (verdict, error) {
	if event != "sub_issues" || ev.SubIssue == nil || ev.Parent == nil {
		return verdict{}, nil
	}
	switch {
	case !s.covers(ev.SubIssue.Repo):
		return verdict{result: foreign, why: "its secret is not one of the sub-issue's repository"}, nil
	case !s.covers(ev.Parent.Repo):
		ev.parentLess = true
	}
	return verdict{}, nil
}

// covers is what an observation of the delivery is confined to, nil where that is nothing.
func (d *delivery) covers() func(repo string) bool {
	if !d.signer.confined() {
		return nil
	}
	return d.signer.covers
}

// errForeign keeps a delivery from a link of a repository that its secret does not cover.
var errForeign = errors.New("a link of another repository has its issue's id or marker")

// owned reports errForeign where an observation would reach a link whose repository the
// observation's signer is not believed about: an id and a marker can be copied by anybody.
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

// repositoryOf is where the item of a link is that a ref names; of a link whose issue is
// not made yet, where it will be.
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

// reportForeign says what a delivery was kept from.
func (in *Intake) reportForeign(ctx context.Context, d *delivery) verdict {
	in.log(ctx, slog.LevelWarn, d, "delivery dropped", slog.Any("err", errForeign))
	return verdict{result: foreign, why: errForeign.Error()}
}
