package webhook

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"planbridge/bridge/factlog"
	"planbridge/mapping"
	"planbridge/store"
)

// errNotKnown stops a decision about an issue until the start of its route is known.
var errNotKnown = errors.New(mapping.WhyNotKnown)

// issueObservation is one observation of one issue.
type issueObservation struct {
	delivery string
	issue    *mapping.Issue
	old      *mapping.Issue // the issue before its transfer
	parent   *mapping.Issue // its new parent, in an event that adds it as a sub-issue
	away     bool           // the payload's state of the issue is out of date
	gone     string         // deleted or transferred: no issue will have its id again
	opened   bool           // nothing happened to the issue before
	edit     *mapping.IssueEvent
	covers   func(string) bool    // repositories that the signer's secret covers; nil: all
	public   func() (bool, error) // reports whether anybody can read its repository
	proven   bool                 // its marker is genuine, whoever the author is
	released bool                 // a person let it out of quarantine
	listed   bool                 // from a listing, which does not show released
}

// routed is an observation that is ready for the store.
type routed struct {
	seen     issueObservation
	hasRoute bool             // a route is for its repository
	project  mapping.ObjectID // "": nothing to store
	obs      store.Observation
	into     mapping.ObjectID     // the project of the link that create makes
	create   func() *mapping.Link // makes its link where none exists; nil: none is made
	delay    time.Duration        // delay of a created link
	enters   bool                 // it enters by a route, not by its marker
	why      string               // why it would not enter
}

func (p *routed) dropped() verdict {
	if p.why == mapping.WhyPublic {
		return verdict{result: refused, why: p.why}
	}
	return verdict{result: ignored, why: p.why}
}

func (p *routed) makes(project mapping.ObjectID, link func() *mapping.Link) {
	p.into, p.create = project, link
}

// resolveLink finds the link of an observation. It tries the link that has the issue (or the
// issue before its transfer), then the link that our marker names. Otherwise it makes one where
// the issue enters. An issue with a link is always observed, even if its route's filter excludes
// it. Otherwise the link would not learn that it must leave.
func (in *Intake) resolveLink(ctx context.Context, s issueObservation) (routed, error) {
	in.o.Accounts.Met(ctx, s.issue.Author, s.issue.AuthorID)
	routes := in.o.Settings.Routes()
	near := routes.ForRepo(s.issue.Repo)
	p := routed{seen: s, hasRoute: len(near) > 0, obs: observation(s)}
	if !s.away {
		if err := in.propose(&p, s, routes, near); err != nil {
			return routed{}, err
		}
	}
	projects := projectsOf(near)
	if p.into != "" && !slices.Contains(projects, p.into) {
		projects = append(projects, p.into)
	}
	if len(projects) == 1 && s.old == nil {
		// This is nearly always so. Nearly always the project has the link, too, which the store
		// finds when it observes.
		p.project = projects[0]
		return p, nil
	}
	// Its link may be in a project that no route of its repository names, even in one that is not
	// configured.
	projects, err := store.ProjectsAfter(ctx, in.o.Store, projects)
	if err != nil {
		return routed{}, err
	}
	if len(projects) == 1 {
		p.project = projects[0]
		return p, nil
	}
	if p.create == nil {
		err := in.leave(ctx, &p, projects)
		if err == nil && p.project == "" {
			err = in.release(ctx, &p)
			p.project = p.into
		}
		return p, err
	}
	home, err := in.home(ctx, projects, p.obs.Refs)
	if p.project = cmp.Or(home, p.into); p.project != p.into {
		p.create = nil
	}
	return p, err
}

// leave leaves an issue that does not enter to the project with its link. Where there is none it
// remembers the rejection.
func (in *Intake) leave(ctx context.Context, p *routed, projects []mapping.ObjectID) (err error) {
	release, err := in.rejected.hold(ctx, []int64{p.seen.issue.ID})
	defer release()
	if err == nil {
		p.project, err = in.home(ctx, projects, p.obs.Refs)
	}
	if err == nil && p.project == "" {
		in.remember(p)
	}
	return err
}

// observation is the part of a store.Observation that depends on s alone.
func observation(s issueObservation) store.Observation {
	ref := mapping.IssueRef(s.issue.ID)
	obs := store.Observation{Delivery: s.delivery, Refs: []mapping.Ref{ref}}
	if s.old != nil && s.old.ID > 0 {
		obs.Refs = append(obs.Refs, mapping.IssueRef(s.old.ID))
	}
	if s.parent != nil {
		obs.Refs = append(obs.Refs, mapping.IssueRef(s.parent.ID))
	}
	if s.edit != nil {
		obs.Event, obs.Own = encode(s.edit), s.edit.Step != nil
	}
	if s.away || s.edit != nil && s.edit.Step != nil {
		return obs
	}
	obs.Item, obs.At, obs.Digest = ref, s.issue.UpdatedAt.Unix(), mapping.DigestIssue(s.issue)
	if s.opened && s.old == nil && s.issue.UpdatedAt.Equal(s.issue.CreatedAt) {
		obs.At-- // times have whole seconds, and this came first in its second
	}
	obs.Data = encode(s.issue)
	return obs
}

// propose adds what happens where no link has the issue: follow our own marker, or let the issue
// enter.
func (in *Intake) propose(p *routed, s issueObservation, routes mapping.Routes, near []*mapping.Route) error {
	if author := in.o.Accounts.Authorship(s.issue.Author); author.Perhaps() {
		in.follow(p, s.issue, routes, s.proven || author.Ours())
	}
	return in.admit(p, s, routes, near)
}

// admit adds the link to make where the issue enters.
func (in *Intake) admit(p *routed, s issueObservation, routes mapping.Routes, near []*mapping.Route) error {
	enters, why, err := in.entrance(s, routes, near)
	if err != nil {
		return err
	}
	p.why = why
	if enters != nil {
		p.enters = true
		p.makes(enters.Project, func() *mapping.Link { return enters.EnterIssue(s.issue, time.Now().UTC()) })
		p.delay = in.o.EnterDelay
		if s.issue.UpdatedAt.Sub(s.issue.CreatedAt) <= in.o.EnterDelay {
			p.obs.Delay = in.o.EnterDelay // its link, if it has one, also waits for its labels
		}
	}
	return nil
}

// entrance returns the route by which an issue enters, or nil and the reason.
func (in *Intake) entrance(s issueObservation, routes mapping.Routes, near []*mapping.Route) (*mapping.Route, string, error) {
	e := mapping.Entrance{Scheme: in.o.Settings.Scheme(), Own: in.made(s.issue), Public: true, Released: in.released(s), FirstRuns: in.o.Settings}
	route, why := routes.Entering(s.issue, e)
	if why == mapping.WhyPublic || why == mapping.WhyQuarantine {
		var err error
		if e.Public, err = s.public(); err != nil {
			return nil, "", err
		}
		route, why = routes.Entering(s.issue, e)
	}
	switch {
	case route != nil:
		return route, "", nil
	case why == mapping.WhyNotKnown:
		return nil, "", errNotKnown
	case why == mapping.WhyPublic:
		in.reportPublic(s.issue.Repo)
	}
	route, err := in.viaParent(s, near)
	return route, why, err
}

// overtaken returns why an entering issue stays out: a newer observation does not let it enter.
// "" means that it enters.
func (in *Intake) overtaken(p *routed) (string, error) {
	s := p.seen
	r := in.rejected.of(s.issue.ID)
	switch {
	case r == nil || !r.newer(&s) || !in.o.Settings.Trust().same(r.repo, s.issue.Repo):
		return "", nil
	case r.gone != "":
		return overtook + "it was " + r.gone, nil
	case !p.enters:
		return "", nil
	}
	s.issue = r.show(s.issue, in.o.EnterDelay)
	routes := in.o.Settings.Routes()
	if route, why, err := in.entrance(s, routes, routes.ForRepo(s.issue.Repo)); err != nil || route == nil {
		return overtook + why, err
	}
	return "", nil
}

const overtook = "a newer delivery kept it out: "

// remember records a rejection, so that older observations cannot let the issue in.
func (in *Intake) remember(p *routed) {
	if p.hasRoute && (!p.seen.away || p.seen.gone != "") {
		in.rejected.put(&p.seen)
		in.quarantined(p)
	}
}

// follow proposes the link in the marker of an issue of ours. The answer to its creation may still
// come, or the store may have lost the link. A marker counts only on an issue that our own account
// made, or may have made, as anybody can copy one on a public repository. A lost link is made again
// only where the issue is surely ours, and in the one project that may have its card.
func (in *Intake) follow(p *routed, issue *mapping.Issue, routes mapping.Routes, sure bool) {
	_, marks := in.o.Settings.Keys().Body(issue.Body)
	for _, m := range marks {
		its := routesOf(m, issue.Repo, routes)
		if len(its) == 0 {
			continue // from another deployment, or copied from another project
		}
		if m.Kind == mapping.MarkSubIssue { // its root's link makes it a part again
			p.obs.Link, p.obs.Refs = m.Link, append(p.obs.Refs, mapping.TaskRef(mapping.ObjectID(m.Partner)))
			return
		}
		if m.Kind != mapping.MarkIssue {
			continue
		}
		p.obs.Link = m.Link
		p.obs.Refs = append(p.obs.Refs, mapping.CardRef(mapping.ObjectID(m.Partner)))
		if r := maker(its); r != nil && sure && len(projectsOf(its)) == 1 {
			p.makes(r.Project, func() *mapping.Link { return r.RebuildFromIssue(issue, m, time.Now().UTC()) })
		}
		return
	}
}

// routesOf returns the routes by which the pair of an issue's marker may go. These are the routes
// to the project that the marker names, else those that led there.
func routesOf(m mapping.Marker, repo string, routes mapping.Routes) []*mapping.Route {
	its := slices.DeleteFunc(routes.ForRepo(repo), func(r *mapping.Route) bool { return !m.IsFor(r.Project) })
	if len(its) > 0 {
		return its
	}
	for _, project := range routes.Projects() {
		if m.IsFor(project) {
			its = append(its, routes.Rebuilding(repo, project)...)
		}
	}
	return its
}

// made reports whether the bridge made an issue.
func (in *Intake) made(issue *mapping.Issue) bool {
	return in.o.Settings.Keys().Made(issue, in.o.Accounts.Authorship(issue.Author))
}

// maker returns the first route that makes issues.
func maker(routes []*mapping.Route) *mapping.Route {
	i := slices.IndexFunc(routes, (*mapping.Route).MakesIssues)
	if i < 0 {
		return nil
	}
	return routes[i]
}

func (in *Intake) reportPublic(repo string) {
	if _, again := in.public.LoadOrStore(repo, true); !again {
		in.o.Logger.Warn("no card is made of its issues: "+mapping.WhyPublic, "repo", repo, factlog.Fact, factlog.Public)
	}
}

// home returns the first project with one of the refs, or "".
func (in *Intake) home(ctx context.Context, projects []mapping.ObjectID, refs []mapping.Ref) (mapping.ObjectID, error) {
	for _, project := range projects {
		for _, ref := range refs {
			_, err := in.o.Store.Find(ctx, project, ref)
			if err == nil {
				return project, nil
			}
			if !errors.Is(err, store.ErrNotFound) {
				return "", err
			}
		}
	}
	return "", nil
}

func projectsOf(routes []*mapping.Route) []mapping.ObjectID {
	var out []mapping.ObjectID
	for _, r := range routes {
		if !slices.Contains(out, r.Project) {
			out = append(out, r.Project)
		}
	}
	return out
}
