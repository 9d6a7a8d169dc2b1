package explain_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/explain"
	"planbridge/bridge/links"
	"planbridge/bridge/pause"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// outsiders are both services with items that no link knows.
type outsiders struct {
	issues   map[int]mapping.Issue
	cards    []mapping.Card // BucketName is that of the listing; "": in none
	public   bool
	released bool
}

func (o *outsiders) GitHub() (explain.GitHub, func(), error) {
	return o, func() {}, nil
}

func (o *outsiders) Planning(mapping.ObjectID) (explain.Planning, func(), error) {
	return outsideCards{o}, func() {}, nil
}

func (o *outsiders) Preview(context.Context, *mapping.Link) (*mapping.Preview, error) {
	return nil, nil
}

func (o *outsiders) Issue(_ context.Context, repo string, number int) (mapping.Issue, error) {
	i, ok := o.issues[number]
	if i.Repo, i.Number = repo, number; !ok {
		return i, mapping.ErrNotFound
	}
	return i, nil
}
func (o *outsiders) Private(context.Context, string) (bool, error) { return !o.public, nil }
func (o *outsiders) Released(context.Context, *mapping.Issue) (bool, error) {
	return o.released, nil
}

func (o *outsiders) Authorship(login string) mapping.Authorship {
	if login == "bot" {
		return mapping.Named
	}
	return mapping.Theirs
}

type outsideCards struct{ *outsiders }

func (o outsideCards) Card(_ context.Context, id mapping.ObjectID) (mapping.Card, error) {
	for _, c := range o.cards {
		if c.ID == id {
			return c, nil
		}
	}
	return mapping.Card{}, mapping.ErrNotFound
}

func (o outsideCards) BacklogEach(_ context.Context, visit func(mapping.ObjectID, string, mapping.Card) error) error {
	for _, c := range o.cards {
		if c.BucketName == "" {
			continue
		}
		if err := visit(mapping.ObjectID("id of "+c.BucketName), c.BucketName, c); err != nil {
			return err
		}
	}
	return nil
}

// begun tells that routes began to run at a moment.
type begun struct{ at time.Time }

func (b begun) FirstRun(string) time.Time { return b.at }

// explainer is one of a store and a world.
func explainer(s store.Store, world explain.Services, set *reconcile.Settings) *explain.Explainer {
	pauses := pause.New(pause.Options{Store: s, Settings: set})
	return explain.New(explain.Options{Store: s, Settings: set, Services: world, Pauses: pauses, FirstRuns: begun{ran}})
}

var ran = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// fresh is an issue of a member that was touched after its route began to run.
func fresh(change func(*mapping.Issue)) mapping.Issue {
	i := mapping.Issue{ID: 7, State: "open", Author: "octocat", Association: "MEMBER", Labels: []string{"planned"}, CreatedAt: ran.Add(time.Hour), UpdatedAt: ran.Add(time.Hour)}
	change(&i)
	return i
}

// TestWhyOutside: each reason for which an issue or a card has no partner, by each of its
// names.
func TestWhyOutside(t *testing.T) {
	keys := mapping.NewKeys([]byte("a key"))
	other := mapping.NewKeys([]byte("another key"))
	mark := mapping.Marker{Kind: mapping.MarkCard, Link: "l1", Nonce: mapping.NewNonceIn("p"), Partner: "12"}
	routes := []mapping.Route{
		{Name: "web", Repositories: []string{"acme/web"}, Project: "p", ProjectName: "planning", Bucket: "Incoming", Labels: []string{"planned"}, ExcludeLabels: []string{"wontplan"}, Authors: "members", Quarantine: mapping.QuarantineAuto, CreateIssues: true, NewCardsIn: "acme/web"},
		{Name: "down", Repositories: []string{"acme/down"}, Project: "p", Bucket: "Down", Direction: mapping.ToGitHub, CreateIssues: true, NewCardsIn: "acme/down"},
		{Name: "up", Repositories: []string{"acme/up"}, Project: "p", Bucket: "Up", Direction: mapping.ToPlanning, CreateIssues: true, NewCardsIn: "acme/up", AllowPublic: true, Quarantine: mapping.QuarantineAuto},
		{Name: "none", Repositories: []string{"acme/none"}, Project: "p", Bucket: "None"},
		{Name: "all", Repositories: []string{"acme/*"}, Exclude: []string{"acme/secret"}, Project: "p", Bucket: "All", CreateIssues: true},
		{Name: "fresh", Repositories: []string{"acme/fresh"}, Project: "p", Bucket: "Fresh", CreateIssues: true, NewCardsIn: "acme/fresh"},
		{Name: "halted", Repositories: []string{"acme/halted"}, Project: "p", Bucket: "Halted", CreateIssues: true, NewCardsIn: "acme/halted"},
	}
	issue := func(change func(*mapping.Issue)) *outsiders {
		return &outsiders{issues: map[int]mapping.Issue{1: fresh(change)}}
	}
	asIs := func(*mapping.Issue) {}
	card := func(c mapping.Card) *outsiders {
		if c.ID == "" {
			c.ID = "c1"
		}
		c.CID = 9
		return &outsiders{cards: []mapping.Card{{ID: "c0", CID: 8, BucketName: "Incoming"}, c}}
	}
	in := func(bucket string) mapping.Card { return mapping.Card{BucketName: bucket} }
	for _, tt := range []struct {
		name, item string
		world      *outsiders
		route, why string
	}{
		{"no route", "elsewhere/web#1", issue(asIs), "", "no route is for its repository"},
		{"excluded repository", "acme/secret#1", issue(asIs), "", "no route is for its repository: route all excludes it"},
		{"pull request", "acme/web#1", issue(func(i *mapping.Issue) { i.PullRequest = true }), "web", "it is a pull request"},
		{"closed", "acme/web#1", issue(func(i *mapping.Issue) { i.State, i.ClosedAt = "closed", ran.Add(2*time.Hour) }), "web", "it is not open"},
		{"closed at once", "acme/web#1", issue(func(i *mapping.Issue) { i.State, i.ClosedAt = "closed", i.CreatedAt.Add(time.Second) }), "web", "it is not open: it was closed within github.enter_delay (2s) after it was opened"},
		{"our own", "acme/web#1", issue(func(i *mapping.Issue) {
			i.Author, i.Body = "bot", keys.AppendComment("x", mapping.Marker{Kind: mapping.MarkIssue, Link: "l", Nonce: mapping.NewNonceIn("p"), Partner: "c"})
		}), "web", "the bridge's own account made it"},
		{"ignored", "acme/web#1", issue(func(i *mapping.Issue) { i.Labels = append(i.Labels, "plan:ignore") }), "web", "it has the label plan:ignore"},
		{"excluded label", "acme/web#1", issue(func(i *mapping.Issue) { i.Labels = append(i.Labels, "wontplan") }), "web", "it has the excluded label wontplan"},
		{"filter", "acme/web#1", issue(func(i *mapping.Issue) { i.Labels = nil }), "web", "it has none of the labels planned"},
		{"author", "acme/web#1", issue(func(i *mapping.Issue) { i.Association = "NONE" }), "web", "its author is not one of the route's members"},
		{"one way", "acme/down#1", issue(asIs), "down", "its route only goes to GitHub"},
		{"public", "acme/web#1", &outsiders{issues: map[int]mapping.Issue{1: fresh(asIs)}, public: true}, "web", mapping.WhyPublic},
		{"older", "acme/web#1", issue(func(i *mapping.Issue) { i.UpdatedAt = ran.Add(-time.Hour) }), "web", "nobody touched it since its route began to run at 2026-11-20T12:00:00Z: planbridge import takes it"},
		{"quarantine", "acme/up#1", &outsiders{issues: map[int]mapping.Issue{1: fresh(func(i *mapping.Issue) { i.Association, i.UpdatedAt = "NONE", ran.Add(2*time.Hour) })}, public: true}, "up", mapping.WhyQuarantine},
		{"let in", "acme/up#1", &outsiders{issues: map[int]mapping.Issue{1: fresh(func(i *mapping.Issue) { i.Association = "NONE" })}, public: true, released: true}, "up", "nothing keeps it out: its delivery or the next catch-up lets it in by route up; where its route refused it at its last change, an edit or planbridge import does"},
		{"paused", "acme/halted#1", issue(asIs), "halted", "its route is paused since 2026-11-24T00:00:00Z"},
		{"new", "acme/web#1", issue(asIs), "web", "nothing keeps it out: its delivery or the next catch-up lets it in by route web; where its route refused it at its last change, an edit or planbridge import does"},
		{"card: no route", "c1", card(in("Elsewhere")), "", "no route takes the cards of bucket Elsewhere"},
		{"card: by its number", "9", card(in("Elsewhere")), "", "no route takes the cards of bucket Elsewhere"},
		{"card: by its number with a mark", "#9", card(in("Elsewhere")), "", "no route takes the cards of bucket Elsewhere"},
		{"card: in a sprint", "c1", card(mapping.Card{}), "", "it is in no bucket of its project's backlog: cards enter from their bucket"},
		{"card: one way", "c1", card(in("Up")), "up", "its route only goes to planning"},
		{"card: makes none", "c1", card(in("None")), "none", "its route makes no issues of new cards (create_issues)"},
		{"card: of a glob", "c1", card(in("All")), "all", "its route names no repository for new cards (new_cards_in)"},
		{"card: placeholder", "c1", card(mapping.Card{BucketName: "Incoming", Placeholder: true}), "web", "it holds the tasks that belong to no card"},
		{"card: marked", "c1", card(mapping.Card{BucketName: "Incoming", Summary: mapping.Versioned{Value: keys.AppendFooter("x", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")}}), "web", "it carries a marker of planbridge: the next poll finds its link"},
		{"card: of another bridge", "c1", card(mapping.Card{BucketName: "Incoming", Summary: mapping.Versioned{Value: other.AppendFooter("x", mark, "acme/web", 12, "https://github.com/acme/web/issues/12")}}), "web", "its footer is of a bridge with another marker key, which has its issue"},
		{"card: older", "old", card(mapping.Card{ID: "old", BucketName: "Incoming"}), "web", "it was there before planbridge polled its bucket first, or while its route refused it: planbridge import takes it"},
		{"card: from another bucket", "moved", card(mapping.Card{ID: "moved", BucketName: "Incoming"}), "web", "nothing keeps it out: the next poll lets it in by route web"},
		{"card: public", "c1", &outsiders{cards: []mapping.Card{{ID: "c1", BucketName: "Incoming"}}, public: true}, "web", mapping.WhyPublic},
		{"card: paused", "c1", card(in("Halted")), "halted", "its route is paused since 2026-11-24T00:00:00Z"},
		{"card: in a bucket that no poll has read", "c1", card(in("Fresh")), "fresh", "planbridge has not polled its bucket yet: the first poll only records what is there, and planbridge import takes it then"},
		{"card: new", "c1", card(in("Incoming")), "web", "nothing keeps it out: the next poll lets it in by route web"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
			if err := s.PutMarks(t.Context(), "p", store.MarksCards, map[string]string{"old": "digest web", "moved": "digest other"}); err != nil {
				t.Fatal(err)
			}
			if err := s.PutDoc(t.Context(), "", pause.DocPaused("halted"), []byte("2026-11-24T00:00:00Z")); err != nil {
				t.Fatal(err)
			}
			if err := s.PutDoc(t.Context(), "p", "baseline", []byte(`{"web":["Incoming"],"halted":["Halted"],"fresh":["Stale"]}`)); err != nil {
				t.Fatal(err)
			}
			set := &reconcile.Settings{
				Routes: mapping.NewRoutes(routes), Keys: keys, Scheme: mapping.LabelScheme{Prefix: "plan:"}, EnterDelay: 2 * time.Second,
			}
			if _, err := links.New(links.Options{Store: s, Settings: set}).FindNumbered(t.Context(), tt.item); !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("a link has %s: %v", tt.item, err)
			}
			o := explainer(s, tt.world, set)
			got, err := o.Outside(t.Context(), tt.item)
			if err != nil || got.Why != tt.why || got.Route != tt.route {
				t.Fatalf("%s: %+v, %v; expected %q by route %q", tt.item, got, err, tt.why, tt.route)
			}
			if says := (&status.LinkDetail{Outside: got}).Headline(); !strings.HasSuffix(says, ": "+tt.why) || !strings.HasPrefix(says, "It is not synchronised") {
				t.Errorf("the first line: %q", says)
			}
		})
	}
}

// parted are services where each project has cards of its own.
type parted struct {
	*outsiders
	projects map[mapping.ObjectID]*walked
}

func (p *parted) Planning(project mapping.ObjectID) (explain.Planning, func(), error) {
	return p.projects[project], func() {}, nil
}

// walked is a project that counts the walks through its backlog.
type walked struct {
	outsideCards
	walks int
}

func (w *walked) BacklogEach(ctx context.Context, visit func(mapping.ObjectID, string, mapping.Card) error) error {
	w.walks++
	return w.outsideCards.BacklogEach(ctx, visit)
}

// TestOutsideOfSeveralProjects: an id walks the backlog of the project that has it, and no
// other one; a number that two projects have is no name.
func TestOutsideOfSeveralProjects(t *testing.T) {
	world := &parted{&outsiders{}, map[mapping.ObjectID]*walked{}}
	for project, id := range map[mapping.ObjectID]mapping.ObjectID{"p": "c1", "q": "c2"} {
		world.projects[project] = &walked{outsideCards: outsideCards{&outsiders{cards: []mapping.Card{{ID: id, CID: 9, BucketName: "Elsewhere"}}}}}
	}
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	o := explainer(s, world, &reconcile.Settings{
		Routes: mapping.NewRoutes([]mapping.Route{{Name: "a", Project: "p", ProjectName: "one", Bucket: "In"}, {Name: "b", Project: "q", ProjectName: "two", Bucket: "In"}}),
	})
	if out, err := o.Outside(t.Context(), "c2"); err != nil || out.Project != "two" || out.Card.Bucket != "Elsewhere" {
		t.Errorf("c2: %+v, %v", out, err)
	}
	if _, err := o.Outside(t.Context(), "nothing"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nothing: %v", err)
	}
	if p, q := world.projects["p"].walks, world.projects["q"].walks; p != 0 || q != 1 {
		t.Errorf("the backlogs were walked %d and %d times, expected 0 and 1", p, q)
	}
	if _, err := o.Outside(t.Context(), "9"); !errors.Is(err, status.ErrName) || errors.Is(err, store.ErrNotFound) || err.Error() != "9 is ambiguous, name one of these: c1 (a card of project one without an issue), c2 (a card of project two without an issue)" {
		t.Errorf("a number of two projects: %v", err)
	}
	link := &mapping.Link{ID: "l1", Project: "p", Pair: mapping.Pair{Card: mapping.CardID{ID: "c1", CID: 9}}}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: link}}); err != nil {
		t.Fatal(err)
	}
	if out, err := o.Outside(t.Context(), "9"); err != nil || out.Card.ID != "c2" {
		t.Errorf("a number of a card with a link and of one without: %+v, %v", out, err)
	}
}

// brokenPauses are those of a store that does not answer.
type brokenPauses struct{}

func (brokenPauses) PausedSince(context.Context, string) (time.Time, error) {
	return time.Time{}, errors.New("connection refused")
}

// TestOutsideOfAStoreThatIsAway: neither service is blamed for it.
func TestOutsideOfAStoreThatIsAway(t *testing.T) {
	set := &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "web", Project: "p", Repositories: []string{"acme/web"}, Direction: mapping.Both}})}
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	world := &outsiders{issues: map[int]mapping.Issue{1: fresh(func(*mapping.Issue) {})}}
	o := explain.New(explain.Options{Store: s, Settings: set, Services: world, Pauses: brokenPauses{}, FirstRuns: begun{ran}})
	if _, err := o.Outside(t.Context(), "acme/web#1"); err == nil || errors.Is(err, status.ErrAway) || !strings.Contains(err.Error(), "the store does not answer") {
		t.Errorf("%v", err)
	}
}
