package preflight_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/preflight"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// TestSoundConfiguration has no fault, and its findings stand in the order of the file.
func TestSoundConfiguration(t *testing.T) {
	var places []string
	for _, f := range newWorld(t).check() {
		if f.Level == preflight.LevelFault {
			t.Errorf("%s: %s", f.Place, f.Words)
		}
		if n := len(places); n == 0 || places[n-1] != f.Place {
			places = append(places, f.Place)
		}
	}
	if got, want := strings.Join(places, ", "), "store, planning web, github, repository acme/web"; got != want {
		t.Errorf("places %s, want %s", got, want)
	}
}

// TestFindings: each thing that is wrong is one finding at its place, and says what to do.
func TestFindings(t *testing.T) {
	for name, tt := range map[string]struct {
		breaks func(w *world)
		level  preflight.Level
		place  string
		words  string
	}{
		"a weak secret": {func(w *world) {
			w.plan.Weaknesses = []preflight.Weakness{{Path: "marker_key", Reason: "it is short"}}
		}, preflight.LevelFault, "secrets", "marker_key is weak: it is short"},
		"a value that is hardly meant": {func(w *world) {
			w.plan.Doubts = []preflight.Doubt{{Path: "github.points_per_minute", Reason: "300 bounds nothing"}}
		}, preflight.LevelWarn, "configuration", "github.points_per_minute: 300 bounds nothing"},
		"planning refuses the secret": {func(w *world) { w.silent = mapping.ErrUnauthorized }, preflight.LevelFault, "planning web", "refuses the secret, or the id p1"},
		"no such project":             {func(w *world) { w.silent = mapping.ErrNotFound }, preflight.LevelFault, "planning web", "there is no such project"},
		"planning is away":            {func(w *world) { w.silent = mapping.ErrUnavailable }, preflight.LevelFault, "planning web", "does not answer"},
		"another's project":           {func(w *world) { w.owner = "bob" }, preflight.LevelWarn, "planning web", "username alice: reading cannot prove"},
		"no bucket":                   {func(w *world) { w.listed, w.project = w.listed[:0], nil }, preflight.LevelFault, "planning web", `there is no bucket "Incoming"; there are none`},
		"another bucket": {func(w *world) {
			w.listed, w.project = []preflight.Bucket{{ID: "b2", Title: "Later"}}, nil
		}, preflight.LevelFault, "planning web", "there are Later"},
		"a bucket in one list":  {func(w *world) { w.project = nil }, preflight.LevelWarn, "planning web", "not named by the project"},
		"a bucket in the other": {func(w *world) { w.listed = nil }, preflight.LevelWarn, "planning web", "missing in the list of buckets"},
		"two buckets of a title": {func(w *world) {
			w.listed = append(w.listed, preflight.Bucket{ID: "b2", Title: "Incoming"})
		}, preflight.LevelWarn, "planning web", "2 buckets are called"},
		"no route":               {func(w *world) { w.route() }, preflight.LevelWarn, "planning web", "no route uses this project"},
		"the token is refused":   {func(w *world) { w.refused = mapping.ErrUnauthorized }, preflight.LevelFault, "github", "is refused"},
		"a token without a name": {func(w *world) { w.refused = mapping.ErrForbidden }, preflight.LevelWarn, "github", "does not say which account"},
		"a former account": {func(w *world) {
			w.refused, w.plan.FormerAccounts = mapping.ErrForbidden, []string{"bot"}
		}, preflight.LevelOK, "github", "acting as one of bot"},
		"no scope":             {func(w *world) { w.access.Scopes = []string{"gist"} }, preflight.LevelFault, "github", "neither scope repo nor public_repo (it has: gist)"},
		"a fine-grained token": {func(w *world) { w.access.Kind = "fine-grained" }, preflight.LevelWarn, "github", "give it Issues"},
		"an app that reads": {func(w *world) {
			w.plan.IsApp = true
			w.access = preflight.Access{Kind: "app", Permissions: map[string]string{"issues": "read", "metadata": "read"}}
		}, preflight.LevelFault, "github", `permission issues: "read"; it needs "write"`},
		"no repository":        {func(w *world) { w.repos = nil }, preflight.LevelFault, "repository acme/web", "not there, or the token may not see it"},
		"GitHub is away":       {func(w *world) { w.away = mapping.ErrUnavailable }, preflight.LevelFault, "repository acme/web", "it cannot be read"},
		"a renamed repository": {repository(func(r *preflight.Repository) { r.FullName = "acme/site" }), preflight.LevelFault, "repository acme/web", "it is called acme/site now"},
		"issues are off":       {repository(func(r *preflight.Repository) { r.HasIssues = false }), preflight.LevelFault, "repository acme/web", "switched off"},
		"an archive":           {repository(func(r *preflight.Repository) { r.Archived = true }), preflight.LevelFault, "repository acme/web", "it is archived"},
		"a public repository":  {repository(func(r *preflight.Repository) { r.Private = false }), preflight.LevelFault, "repository acme/web", "does not say allow_public"},
		"triage alone":         {repository(func(r *preflight.Repository) { r.Permissions = map[string]bool{"triage": true} }), preflight.LevelFault, "repository acme/web", "it needs push"},
		"reading alone":        {repository(func(r *preflight.Repository) { r.Permissions = map[string]bool{"pull": true} }), preflight.LevelFault, "repository acme/web", "may only read here"},
		"nobody says":          {repository(func(r *preflight.Repository) { r.Permissions = nil }), preflight.LevelWarn, "repository acme/web", "does not say what the token may do"},
		"strangers wait": {func(w *world) {
			repository(func(r *preflight.Repository) { r.Private = false })(w)
			w.route(mapping.Route{Name: "web", Repositories: []string{"acme/web"}, Project: "p1", Bucket: "Incoming", AllowPublic: true})
			w.plan.QuarantineUnsaid["web"] = true
		}, preflight.LevelWarn, "repository acme/web", "anybody can open issues here"},
		"a glob of nothing": {func(w *world) {
			w.route(mapping.Route{Name: "all", Repositories: []string{"octo/*"}, Project: "p1", Bucket: "Incoming"})
		}, preflight.LevelFault, "repository octo/*", "it takes none of the repositories of octo that the token can see, 0 in all"},
		"a glob": {func(w *world) {
			w.route(mapping.Route{Name: "all", Repositories: []string{"acme/*"}, Project: "p1", Bucket: "Incoming"})
		}, preflight.LevelOK, "repository acme/*", "it takes 1 repository: acme/web"},
		"a glob with public ones": {func(w *world) {
			w.repos["acme/open"] = preflight.Repository{FullName: "acme/open", HasIssues: true}
			w.route(mapping.Route{Name: "all", Repositories: []string{"acme/*"}, Project: "p1", Bucket: "Incoming"})
		}, preflight.LevelWarn, "repository acme/*", "1 public repository is left out"},
		"the store is in use":      {func(w *world) { w.busy, w.running = true, []status.Link{} }, preflight.LevelOK, "store", "is in use by the service that runs"},
		"by whom nobody says":      {func(w *world) { w.busy = true }, preflight.LevelWarn, "store", "in use by another process, and no service answers: nobody listens"},
		"by one that is not ready": {func(w *world) { w.busy, w.running, w.unready = true, []status.Link{}, "it was copied" }, preflight.LevelFault, "store", "is in use by a service that is not ready: it was copied"},
		"and tells no links":       {func(w *world) { w.busy = true }, preflight.LevelWarn, "links", "was not looked at: no service answers"},
		"links of no route": {func(w *world) {
			w.busy, w.running = true, []status.Link{linkOf("gone", "acme/old", "p1"), linkOf("gone", "acme/old", "p1")}
		}, preflight.LevelWarn, "links", "2 links of route gone, which the configuration has no more, stay with acme/old"},
		"links of many routes": {func(w *world) {
			w.busy, w.running = true, []status.Link{linkOf("a", "acme/a", "p1"), linkOf("b", "acme/b", "p1"), linkOf("c", "acme/c", "p1"), linkOf("d", "acme/d", "p1")}
		}, preflight.LevelWarn, "links", `4 links of routes a, b, c and 1 more, which the configuration has no more, stay with acme/a and bucket "Incoming" (1), acme/b and bucket "Incoming" (1), acme/c and bucket "Incoming" (1), 1 other place, dormant`},
		"links that one route takes of many": {func(w *world) {
			w.busy, w.running = true, []status.Link{linkOf("a", "acme/web", "p1"), linkOf("b", "acme/web", "p1"), linkOf("c", "acme/web", "p1"), linkOf("d", "acme/web", "p1"), linkOf("d", "acme/web", "p1")}
		}, preflight.LevelOK, "links", "5 links of routes a, b, c and 1 more go by route web, which takes such issues now"},
		"links of many routes that lead elsewhere": {func(w *world) {
			var routes []mapping.Route
			w.busy = true
			for _, name := range []string{"a", "b", "c", "d"} {
				routes = append(routes, mapping.Route{Name: name, Repositories: []string{"acme/" + name}, Project: "p1", Bucket: "Incoming"})
				w.running = append(w.running, linkOf(name, "other/"+name, "p1"))
			}
			w.route(routes...)
		}, preflight.LevelWarn, "links", `routes a, b, c and 1 more: 4 links stay with other/a and bucket "Incoming" (1)`},
		"links without a route": {func(w *world) {
			w.busy, w.running = true, []status.Link{linkOf("", "acme/old", "p1")}
		}, preflight.LevelWarn, "links", "1 link without a route stays with acme/old"},
		"links of another repository": {func(w *world) {
			w.busy, w.running = true, []status.Link{linkOf("web", "other/web", "p1")}
		}, preflight.LevelWarn, "links", "1 link stays with"},
		"links of a project that has no name": {func(w *world) {
			w.busy, w.running = true, []status.Link{linkOf("web", "acme/web", "p2"), linkOf("web", "acme/web", "p2")}
		}, preflight.LevelWarn, "links", "2 links of route web are dormant with acme/web and bucket \"Incoming\" of project p2: planning.projects does not name that project"},
		"dormant links whose route is back": {func(w *world) {
			w.busy, w.running = true, []status.Link{asleep(linkOf("web", "acme/web", "p1")), asleep(linkOf("web", "acme/web", "p1"))}
		}, preflight.LevelOK, "links", "2 dormant links of route web are worked again"},
		"dormant links that another route takes": {func(w *world) {
			w.busy, w.running = true, []status.Link{asleep(linkOf("gone", "acme/web", "p1"))}
		}, preflight.LevelOK, "links", "1 dormant link of route gone is worked again by route web, which takes such issues now"},
		"dormant links that none takes": {func(w *world) {
			w.busy, w.running = true, []status.Link{asleep(linkOf("gone", "acme/old", "p1"))}
		}, preflight.LevelWarn, "links", "1 link of route gone, which the configuration has no more, stays with acme/old"},
		"cards whose route makes no issues any more": {func(w *world) {
			w.route(mapping.Route{Name: "web", Repositories: []string{"acme/web"}, Project: "p1", Bucket: "Incoming", Direction: mapping.Both})
			making := asleep(linkOf("web", "acme/web", "p1"))
			making.Issue.Number = 0
			w.busy, w.running = true, []status.Link{making}
		}, preflight.LevelWarn, "links", "1 link of route web waits dormant without an issue: the route makes no issues of cards"},
		"the same in the store": {func(w *world) { w.keeps(pair("web", "acme/web", "p2")) }, preflight.LevelWarn, "links", "1 link of route web is dormant with acme/web and bucket \"Incoming\" of project p2"},
		"links that a move leaves": {func(w *world) {
			w.plan.Projects["old"] = preflight.Project{ID: "p2"}
			w.plan.Routes = mapping.NewRoutes([]mapping.Route{*w.plan.Routes.ByName("web")}, mapping.PlanningProject{ID: "p2", Name: "old"})
			left, erased := linkOf("web", "acme/web", "p2"), linkOf("web", "acme/web", "p2")
			left.State, erased.State = string(mapping.Orphaned), string(mapping.Erased)
			w.busy, w.running = true, []status.Link{left, erased, erased}
		}, preflight.LevelOK, "links", `route web: 1 link that left the route or lost an item stays with acme/web and bucket "Incoming" of project old`},
		"links that are erased": {func(w *world) {
			erased := linkOf("web", "other/web", "p1")
			erased.State = string(mapping.Erased)
			w.busy, w.running = true, []status.Link{linkOf("web", "acme/web", "p1"), erased}
		}, preflight.LevelOK, "links", "all 1 are where their routes lead"},
		"links where they belong": {func(w *world) {
			w.busy, w.running = true, []status.Link{linkOf("web", "acme/web", "p1")}
		}, preflight.LevelOK, "links", "all 1 are where their routes lead"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.breaks(w)
			w.finds(tt.level, tt.place, tt.words)
		})
	}
}

// TestALimitIsNoOutage: where a service takes no more requests for a while, the check says so and
// until when, to the next minute.
func TestALimitIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.away = errors.Join(&mapping.RateLimited{API: "github", After: time.Hour + time.Second, Why: "primary limit"})
		w.silent = &mapping.RateLimited{API: "planning", After: 30 * time.Second, Why: "Retry-After"}
		w.finds(preflight.LevelFault, "repository acme/web", "it was not looked at: GitHub takes no more requests until 2000-01-01T01:01:00Z (primary limit)")
		w.finds(preflight.LevelFault, "planning web", "it was not looked at: planning takes no more requests until 2000-01-01T00:01:00Z (Retry-After)")
	})
}

// repository changes acme/web.
func repository(change func(*preflight.Repository)) func(*world) {
	return func(w *world) {
		w.mu.Lock()
		defer w.mu.Unlock()
		r := w.repos["acme/web"]
		change(&r)
		w.repos["acme/web"] = r
	}
}

func linkOf(route, repo string, project mapping.ObjectID) status.Link {
	return status.LinkOf(pair(route, repo, project))
}

func pair(route, repo string, project mapping.ObjectID) *mapping.Link {
	l := &mapping.Link{ID: "l1", Route: route, Project: project}
	l.Issue = mapping.IssueID{ID: 1, Repo: repo, Number: 1}
	l.Card = mapping.CardID{ID: "c1", Bucket: "b1", BucketName: "Incoming"}
	return l
}

// TestNothingMoreIsAskedOfARefusedToken: where GitHub does not know who asks, no repository is
// looked at, and the check says so.
func TestNothingMoreIsAskedOfARefusedToken(t *testing.T) {
	w := newWorld(t)
	w.refused = mapping.ErrUnauthorized
	for _, f := range w.check() {
		if strings.HasPrefix(f.Place, "repository") {
			t.Errorf("%s: %s", f.Place, f.Words)
		}
	}
	w.finds(preflight.LevelWarn, "github", "no repository was looked at")
}

// asleep is a link that no route took.
func asleep(l status.Link) status.Link {
	l.State = string(mapping.Dormant)
	return l
}

// TestManyRepositoriesAreAskedAboutOnce: data that the repositories of an organisation share is
// asked once, and each is still proven. One that was renamed, or is missing, is read.
func TestManyRepositoriesAreAskedAboutOnce(t *testing.T) {
	const many = 155
	sound := preflight.Hook{ID: 1, URL: "https://planbridge.example.com/webhooks/github", Active: true, Events: []string{"*"}}
	asleep := sound
	asleep.Active = false
	for name, tt := range map[string]struct {
		hooks map[string][]preflight.Hook // of the organisation and of one repository
		asked map[string]int
		says  string
	}{
		"the organisation's webhook": {
			map[string][]preflight.Hook{"acme": {sound}},
			map[string]int{"repositories": 1, "repository": 2, "hooks": many, "deliveries": 1},
			"ok repository acme/r7: the webhook goes to planbridge.example.com/webhooks/github; of 0 deliveries of the last day none failed",
		},
		"a repository's own one beside it, switched off": {
			map[string][]preflight.Hook{"acme": {sound}, "acme/r7": {asleep}},
			map[string]int{"repositories": 1, "repository": 2, "hooks": many, "deliveries": 1},
			"fault repository acme/r7: the webhook to planbridge.example.com/webhooks/github is switched off",
		},
		"that is switched off": {
			map[string][]preflight.Hook{"acme": {asleep}, "acme/r7": {sound}},
			map[string]int{"repositories": 1, "repository": 2, "hooks": many, "deliveries": 1},
			"fault repository acme/r8: the webhook to planbridge.example.com/webhooks/github is switched off",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.hooks, w.repos = tt.hooks, map[string]preflight.Repository{}
			var routes []mapping.Route
			for n := range many {
				repo := fmt.Sprint("acme/r", n)
				routes = append(routes, mapping.Route{Name: repo, Repositories: []string{repo}, Project: "p1", ProjectName: "web", Bucket: "Incoming"})
				w.repos[repo] = preflight.Repository{FullName: repo, Private: true, HasIssues: true, Permissions: map[string]bool{"push": n != 5}}
			}
			w.repos["acme/r1"] = preflight.Repository{FullName: "acme/renamed", Private: true, HasIssues: true, Permissions: map[string]bool{"push": true}}
			delete(w.repos, "acme/r2")
			w.route(routes...)
			found := said(w.check())
			for _, want := range []string{
				tt.says, "fault repository acme/r1: it is called acme/renamed now", "fault repository acme/r2: it is not there",
				"fault repository acme/r5: the token may only read here", "ok repository acme/r154: issues and labels can be written",
			} {
				if !strings.Contains(found, want) {
					t.Errorf("nothing says %q:%s", want, found)
				}
			}
			if !maps.Equal(w.asked, tt.asked) {
				t.Errorf("asked were %v, want %v", w.asked, tt.asked)
			}
		})
	}
}
