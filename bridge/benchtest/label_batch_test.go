package benchtest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/clock"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/status"
	"planbridge/mapping/mappingtest"
	"planbridge/store"
	"planbridge/store/memstore"
)

// Issues of an import get their labels together. Whichever fault occurs, each issue has the labels
// in the end that it would have by itself, and those of people.
func TestLabelsTogether(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	fault := func(f githubtest.Fault) func(*bridgetest.TestWorld) {
		return func(w *bridgetest.TestWorld) { f.Match = "graphql.labels"; w.GitHub.Fault(f) }
	}
	refused := func(status int) func(*bridgetest.TestWorld) {
		return func(w *bridgetest.TestWorld) {
			w.GitHub.SetTraits(func(t *githubtest.Traits) { t.NoGraphQL = status })
		}
	}
	// Each mutation has a read before it. Twenty issues go together, or a few less than are due.
	const together = 2 * 2 * labelledTogether / 20
	for name, tt := range map[string]struct {
		wrong func(*bridgetest.TestWorld)
		alone int // requests for one issue's labels alone, at most
		asked int // of GraphQL, at most
	}{
		"all is well":             {func(*bridgetest.TestWorld) {}, 4, together},
		"people label meanwhile":  {onFirst(func(r *githubtest.Repo, n int) { r.Label(n, "octocat", "urgent") }), 4, together},
		"people remove it again":  {onFirst(func(r *githubtest.Repo, n int) { r.Unlabel(n, "octocat", "bug") }), 4, together},
		"one is deleted":          {onFirst(func(r *githubtest.Repo, n int) { r.Delete(n) }), 4, together},
		"one is transferred":      {onFirst(func(r *githubtest.Repo, n int) { r.Transfer(n, "acme/other") }), 4, together},
		"one is locked":           {onFirst(func(r *githubtest.Repo, n int) { r.Lock(n) }), 4, together},
		"a label is deleted":      {onFirst(func(r *githubtest.Repo, _ int) { r.DeleteLabel("octocat", "bucket:Incoming") }), 60, 2 * together},
		"no GraphQL":              {refused(http.StatusNotFound), 120, 3},
		"GraphQL is forbidden":    {refused(http.StatusForbidden), 120, 3},
		"lost answers":            {fault(githubtest.Fault{Kind: githubtest.Drop, Times: 2}), 20, 3 * together},
		"lost requests":           {fault(githubtest.Fault{Kind: githubtest.DropBefore, Times: 2}), 20, 3 * together},
		"answers of 502":          {fault(githubtest.Fault{Kind: githubtest.After, Times: 2}), 20, 3 * together},
		"mutations that are late": {fault(githubtest.Fault{Kind: githubtest.LateEffect, After: time.Minute, Times: 2}), 20, 3 * together},
		"mutations that last":     {fault(githubtest.Fault{Kind: githubtest.Delay, After: 5 * time.Second, Times: -1}), 4, 2 * together},
		"garbage":                 {fault(githubtest.Fault{Kind: githubtest.Garbage, Times: 2}), 20, 3 * together},
		"no mutation is answered": {fault(githubtest.Fault{Kind: githubtest.After, Times: -1}), 60, 2 * together},
		"a secondary limit":       {fault(githubtest.SecondaryLimit(time.Minute)), 4, 2 * together},
		"a primary limit":         {graphqlSpent, 120, together},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, bridgetest.Options{}, func(w *bridgetest.TestWorld) {
				w.GitHub.AddRepo("acme/other", githubtest.RepoSpec{})
				importLabelled(w, tt.wrong)
				alone, asked := w.GitHub.Calls("labels.add", "label.remove"), w.GitHub.Calls("graphql", "graphql.labels")
				w.T.Logf("GitHub: %s", operations(w.GitHub.Journal()))
				if alone > tt.alone || asked > tt.asked {
					w.T.Errorf("%d requests for the labels of one issue, %d of GraphQL, want at most %d and %d", alone, asked, tt.alone, tt.asked)
				}
			})
		})
	}
}

// TestLabelsTogetherAndAKill: a replica is gone once its mutation has left. Another one does what
// is left, and none of it twice.
func TestLabelsTogetherAndAKill(t *testing.T) {
	kinds := []githubtest.FaultKind{githubtest.Drop, githubtest.DropBefore, githubtest.LateEffect}
	isDrawn := mappingtest.DrawWorlds(len(kinds))
	for _, kind := range kinds {
		if !isDrawn() {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			memory := memstore.New(memstore.Options{Clock: clock.Runtime{}, QueueLimit: 200_000})
			var handles []*memstore.Store
			o := bridgetest.Options{OpenStore: func() store.Store {
				handles = append(handles, memory.Open(nil))
				return handles[len(handles)-1]
			}}
			virtually(t, o, func(w *bridgetest.TestWorld) {
				importLabelled(w, func(w *bridgetest.TestWorld) {
					w.GitHub.Fault(githubtest.Fault{Match: "graphql.labels", Kind: kind, After: 20 * time.Second, When: func(githubtest.Call) bool {
						handles[0].Crash()
						return true
					}})
					if _, err := w.AddReplica(nil); err != nil {
						w.T.Fatal(err)
					}
				})
				if w.GitHub.Calls("graphql.labels") < 3 {
					w.T.Errorf("%d mutations for %d issues", w.GitHub.Calls("graphql.labels"), labelledTogether)
				}
			})
		})
	}
}

// labelledTogether is how many issues are labelled together in these tests.
const labelledTogether = 60

// onFirst has people do something to one issue right before the first mutation changes it.
func onFirst(act func(r *githubtest.Repo, number int)) func(*bridgetest.TestWorld) {
	return func(w *bridgetest.TestWorld) {
		var once sync.Once
		w.GitHub.BeforeWrite(func(op, _ string, number int) {
			if op == "graphql.labels" {
				once.Do(func() { act(w.Repo, number) })
			}
		})
	}
}

// graphqlSpent leaves nothing of GraphQL's hour.
func graphqlSpent(w *bridgetest.TestWorld) {
	f := githubtest.PrimaryLimit(w.GitHub.Now().Add(time.Hour))
	f.Match = "graphql*"
	f.Header.Set("X-Ratelimit-Resource", "graphql")
	w.GitHub.Fault(f)
}

// importLabelled imports issues that have a label of people's while something goes wrong, and
// checks the labels that they have in the end.
func importLabelled(w *bridgetest.TestWorld, wrong func(*bridgetest.TestWorld)) {
	w.T.Helper()
	for i := range labelledTogether {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Issue ", i), Labels: []string{"bug"}})
	}
	time.Sleep(time.Hour)
	if err := w.StartBridge(); err != nil {
		w.T.Fatal(err)
	}
	time.Sleep(time.Minute)
	w.GitHub.ResetJournal()
	wrong(w)
	w.BeginImport(status.ImportAsk{})
	time.Sleep(2 * time.Hour)
	checkLabelled(w)
}

// checkLabelled checks that each issue has what people gave it, and what shows its card, each put
// there once.
func checkLabelled(w *bridgetest.TestWorld) {
	w.T.Helper()
	for _, i := range w.Repo.Issues() {
		var people, were []string
		writes, most := 0, len(shownLabels)
		for _, v := range w.Repo.History(i.Number, "labels") {
			now := strings.FieldsFunc(v.Value, func(r rune) bool { return r == ',' })
			if v.User == bridgetest.Bot {
				writes++
			} else {
				people = slices.DeleteFunc(slices.Clone(now), isShown)
				most += max(0, len(were)-len(shown(now))) // a label that a person removed is added again
			}
			were = shown(now)
		}
		left := slices.DeleteFunc(slices.Clone(i.Labels), isShown)
		if ours := shown(i.Labels); !slices.Equal(ours, shownLabels) || !slices.Equal(left, people) || writes > most {
			w.T.Errorf("issue %d has %q and %q of ours after %d writes, want %q and %q", i.Number, left, ours, writes, people, shownLabels)
		}
		if len(i.Comments) > 0 {
			w.T.Errorf("issue %d has comments: %+v", i.Number, i.Comments)
		}
	}
	if cards := len(w.Project.Cards()); cards != labelledTogether {
		w.T.Errorf("%d issues have %d cards", labelledTogether, cards)
	}
}

// shownLabels show a card that nobody has begun.
var shownLabels = []string{"bucket:Incoming", "plan:To Do"}

func isShown(label string) bool { return strings.Contains(label, ":") }

// shown are those of some labels that show a card, sorted.
func shown(labels []string) []string {
	out := slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return !isShown(l) })
	slices.Sort(out)
	return out
}
