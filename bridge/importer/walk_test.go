package importer_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestDryRun: an import's plan is counted and listed, and nothing is done.
func TestDryRun(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(w *world)
		ask    status.ImportAsk
		want   []string
		out    string // why issues stay out; "": none does
		takes  float64
	}{
		"issues and cards": {func(w *world) {
			w.pages = [][]mapping.Issue{{issue(1), issue(2)}, {issue(3)}}
			w.backlog = []mapping.Card{card("c1", "A card")}
		}, status.ImportAsk{}, []string{"acme/web#1 card", "acme/web#2 card", "acme/web#3 card", "c1 issue"}, "", 181},
		"an issue on two pages": {func(w *world) {
			w.pages = [][]mapping.Issue{{issue(1)}, {issue(1), issue(2)}}
		}, status.ImportAsk{}, []string{"acme/web#1 card", "acme/web#2 card"}, "", 120},
		"closed ones stay out": {func(w *world) {
			w.pages = [][]mapping.Issue{{issue(1, func(i *mapping.Issue) { i.State = "closed" })}}
		}, status.ImportAsk{}, nil, "it is not open", 0},
		"closed ones as well": {func(w *world) {
			w.pages = [][]mapping.Issue{{issue(1, func(i *mapping.Issue) { i.State = "closed" })}}
		}, status.ImportAsk{State: mapping.ImportAll}, []string{"acme/web#1 card"}, "", 60},
		"pull requests": {func(w *world) {
			w.pages = [][]mapping.Issue{{issue(1, func(i *mapping.Issue) { i.PullRequest = true })}}
		}, status.ImportAsk{}, nil, "it is a pull request", 0},
		"partners": {func(w *world) {
			w.pages = [][]mapping.Issue{{issue(1, titled("Same")), issue(2, titled("Twice"))}}
			w.backlog = []mapping.Card{card("c1", "Same"), card("c2", "Twice"), card("c3", "Twice"), card("c4", "Alone")}
		}, status.ImportAsk{Match: "title"}, []string{"acme/web#1 join c1", "acme/web#2 ambiguous", "c4 issue"}, "", 61},
		"the same without looking": {func(w *world) {
			w.pages = [][]mapping.Issue{{issue(1, titled("Same"))}}
			w.backlog = []mapping.Card{card("c1", "Same")}
		}, status.ImportAsk{}, []string{"acme/web#1 card", "c1 issue"}, "", 61},
		"sub-issues": {func(w *world) {
			w.pages = [][]mapping.Issue{{issue(1), issue(2, childOf(1))}}
		}, status.ImportAsk{}, []string{"acme/web#1 card", "acme/web#2 child"}, "", 60},
		"a sub-issue below a closed one": {func(w *world) {
			w.pages = [][]mapping.Issue{{
				issue(1, func(i *mapping.Issue) { i.State = "closed" }), issue(2, childOf(1)), issue(3, childOf(2)), issue(4, childOf(9)),
			}}
		}, status.ImportAsk{}, []string{"acme/web#2 card", "acme/web#3 child", "acme/web#4 card"}, "it is not open", 120},
		"a sub-issue of a sub-issue": {func(w *world) {
			w.pages = [][]mapping.Issue{{issue(3, childOf(2)), issue(2, childOf(1)), issue(1)}}
		}, status.ImportAsk{}, []string{"acme/web#1 card", "acme/web#3 child", "acme/web#2 child"}, "", 60},
		"a sub-issue of a route without tasks": {func(w *world) {
			w.route.Tasks = ""
			w.pages = [][]mapping.Issue{{issue(1), issue(2, childOf(1))}}
		}, status.ImportAsk{}, []string{"acme/web#1 card", "acme/web#2 card"}, "", 120},
		"cards come from planning alone": {func(w *world) {
			w.route.Direction = mapping.ToGitHub
			w.pages = [][]mapping.Issue{{issue(1)}}
		}, status.ImportAsk{}, nil, "its route only goes to GitHub", 0},
		"a public repository": {func(w *world) {
			w.public, w.pages = true, [][]mapping.Issue{{issue(1)}}
		}, status.ImportAsk{}, nil, mapping.WhyPublic, 0},
		"a stranger's": {func(w *world) {
			w.public, w.route.AllowPublic = true, true
			w.pages = [][]mapping.Issue{{issue(1, stranger)}}
		}, status.ImportAsk{}, nil, mapping.WhyQuarantine, 0},
		"a stranger's that was let in": {func(w *world) {
			w.public, w.route.AllowPublic, w.let[1] = true, true, true
			w.pages = [][]mapping.Issue{{issue(1, stranger)}}
		}, status.ImportAsk{}, []string{"acme/web#1 card"}, "", 60},
		"a placeholder": {func(w *world) {
			c := card("c1", "Draft")
			c.Placeholder = true
			w.backlog = []mapping.Card{c}
		}, status.ImportAsk{}, nil, "", 0},
		"no new issues": {func(w *world) {
			w.route.CreateIssues = false
			w.backlog = []mapping.Card{card("c1", "A card")}
		}, status.ImportAsk{}, nil, "", 0},
		"a repository that is closed": {func(w *world) {
			w.closed = mapping.ErrForbidden
		}, status.ImportAsk{}, []string{"acme/web failed"}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				tt.change(w)
				tt.ask.DryRun = true
				job := w.run(tt.ask, nil)
				r := job.Import
				if got := listed(job); job.State != status.JobDone || !slices.Equal(got, tt.want) {
					t.Errorf("%s %s: listed %q, want %q", job.State, job.Error, got, tt.want)
				}
				if out := r.OutWhy[tt.out]; tt.out == "" && r.Out != 0 || tt.out != "" && out != r.Out || tt.out != "" && out == 0 {
					t.Errorf("out are %v, want %q", r.OutWhy, tt.out)
				}
				if r.Forecast != tt.takes {
					t.Errorf("it is to take %g s, want %g", r.Forecast, tt.takes)
				}
				for l, err := range store.AllLinks(t.Context(), w.store, project) {
					t.Errorf("a dry run made the link of %s, %v", l.Where(), err)
				}
			})
		})
	}
}

func childOf(number int) func(*mapping.Issue) {
	return func(i *mapping.Issue) { i.Parent = fmt.Sprintf("acme/web#%d", number) }
}

func titled(title string) func(*mapping.Issue) {
	return func(i *mapping.Issue) { i.Title = title }
}

// stranger makes an issue a stranger's that somebody labelled.
func stranger(i *mapping.Issue) { i.Association, i.Labels = "NONE", []string{"bug"} }

// TestStrangersAreAskedForOnce: an import walks the issues more than once.
func TestStrangersAreAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.public, w.route.AllowPublic = true, true
		w.pages = [][]mapping.Issue{{issue(1, stranger), issue(2, stranger), issue(3)}}
		job := w.run(status.ImportAsk{}, nil)
		if job.State != status.JobDone || !slices.Equal(w.asked, []int64{1, 2}) {
			t.Errorf("%s %s: asked for %v", job.State, job.Error, w.asked)
		}
	})
}

// TestImport: each issue and card gets its link, also those that a page hid while people edited.
// The import ends once all are in agreement. Asking again finds nothing to do.
func TestImport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.pages = [][]mapping.Issue{{issue(1)}, {issue(3)}}
		w.shifts, w.then = 3, [][]mapping.Issue{{issue(1), issue(2)}, {issue(3)}}
		w.backlog = []mapping.Card{card("c1", "A card")}
		job := w.run(status.ImportAsk{}, nil)
		r := job.Import
		if job.State != status.JobDone || job.Done != 4 || r.Failed+r.Dropped != 0 {
			t.Errorf("%s %s: %d of %d are done, %d failed and %d were dropped", job.State, job.Error, job.Done, job.Total, r.Failed, r.Dropped)
		}
		var links []string
		for l, err := range store.AllLinks(t.Context(), w.store, project) {
			if err != nil {
				t.Fatal(err)
			}
			links = append(links, l.Where())
			if l.Import != mapping.ImportOpen {
				t.Errorf("the link of %s is of no import", l.Where())
			}
		}
		if slices.Sort(links); !slices.Equal(links, []string{"acme/web#1", "acme/web#2", "acme/web#3", "c1"}) {
			t.Errorf("there are links of %q", links)
		}
		again := w.run(status.ImportAsk{}, nil)
		if n := again.Import; n.Known != 3 || n.Cards+n.Issues+n.Joined != 0 || again.State != status.JobDone {
			t.Errorf("asked again: %s, %+v", again.State, n)
		}
	})
}

// TestImportJoinsPartners: an issue and a card of one title become one link.
func TestImportJoinsPartners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.pages = [][]mapping.Issue{{issue(1, titled("Same"))}}
		w.backlog = []mapping.Card{card("c1", "Same")}
		job := w.run(status.ImportAsk{Match: "title"}, nil)
		n := 0
		for l, err := range store.AllLinks(t.Context(), w.store, project) {
			if n++; err != nil || l.Issue.ID != 1 || l.Card.ID != "c1" {
				t.Errorf("the link has issue %d and card %s, %v", l.Issue.ID, l.Card.ID, err)
			}
		}
		if job.State != status.JobDone || n != 1 || job.Import.Joined != 1 {
			t.Errorf("%s %s: %d links, %d joined", job.State, job.Error, n, job.Import.Joined)
		}
	})
}

// TestImportOfAPublicRepository: while a repository is public its cards stay out as its issues
// do. It may become private under the import: a card whose partner was not taken gets no other.
func TestImportOfAPublicRepository(t *testing.T) {
	for name, c := range map[string]struct {
		private func(asked int) bool
		allow   bool
		links   int // each has an issue and a card
		out     int
	}{
		"it is":                       {func(int) bool { return false }, false, 0, 2},
		"it is, and the route allows": {func(int) bool { return false }, true, 1, 0},
		"it becomes private":          {func(asked int) bool { return asked > 1 }, false, 0, 2},
		"it becomes public":           {func(asked int) bool { return asked == 1 }, false, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.private, w.route.AllowPublic = c.private, c.allow
				w.pages = [][]mapping.Issue{{issue(1, titled("Same"))}}
				w.backlog = []mapping.Card{card("c1", "Same")}
				job := w.run(status.ImportAsk{Match: "title"}, nil)
				n := 0
				for l, err := range store.AllLinks(t.Context(), w.store, project) {
					if n++; err != nil || l.Issue.ID != 1 || l.Card.ID != "c1" {
						t.Errorf("a link has issue %d and card %q, %v", l.Issue.ID, l.Card.ID, err)
					}
				}
				if job.State != status.JobDone || n != c.links || job.Import.Out != c.out {
					t.Errorf("%s %s: %d links, %d items stay out, want %d and %d", job.State, job.Error, n, job.Import.Out, c.links, c.out)
				}
			})
		})
	}
}
