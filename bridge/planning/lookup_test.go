package planning

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
)

func TestJoinBuckets(t *testing.T) {
	ids := func(s ...mapping.ObjectID) []mapping.ObjectID { return s }
	listed := []Bucket{{"l1", "In"}, {"l2", "Out"}, {"l3", "Twice"}, {"l4", "Twice"}, {"x", "Same"}}
	project := []Bucket{{"p1", "In "}, {"p2", "Out"}, {"p3", "Twice"}, {"p4", "Twice"}, {"x", "Same"}, {"p6", "Only here"}}
	for bucket, want := range map[string][]mapping.ObjectID{
		"In": ids("l1", "p1"), " In": ids("l1", "p1"), "l1": ids("l1", "p1"), "p1": ids("l1", "p1"), "Same": ids("x"), "x": ids("x"),
		"p6": ids("p6"), "Only here": ids("p6"), "l3": ids("l3"), "p4": ids("p4"),
	} {
		got, err := joinBuckets(bucket, listed, project)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v %s", bucket, err, diff)
		}
	}
	if _, err := joinBuckets("Twice", listed, project); !errors.Is(err, mapping.ErrRejected) {
		t.Error(err)
	}
	for _, bucket := range []string{"", "in", "none"} {
		if _, err := joinBuckets(bucket, listed, project); !errors.Is(err, mapping.ErrNotFound) {
			t.Errorf("%q: %v", bucket, err)
		}
	}
}

// paths serves an answer for each end of a path; a missing item is a 500.
func paths(answers map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for end, body := range answers {
			if strings.HasSuffix(r.URL.Path, end) {
				answering(200, body)(w, r)
				return
			}
		}
		w.WriteHeader(500)
	}
}

func TestBucketIDs(t *testing.T) {
	answers := map[string]string{"/backlog/buckets": `[{"bucket":"Incoming","id":"l1"}]`, "/" + testProject: projectJSON}
	c, _ := serve(t, paths(answers))
	got, err := c.BucketIDs(ctx(), "Incoming")
	if diff := cmp.Diff([]mapping.ObjectID{"l1", "b1"}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err = c.BucketIDs(ctx(), "nowhere"); err == nil || err.Error() != `planning: find bucket "nowhere": not found` {
		t.Error(err)
	}
	for missing := range answers {
		broken := map[string]string{"/backlog/buckets": answers["/backlog/buckets"], "/" + testProject: projectJSON}
		delete(broken, missing)
		c, _ := serve(t, paths(broken))
		_, err := c.BucketIDs(ctx(), "Incoming")
		wantFault(t, err, mapping.ErrUnavailable)
	}
}

// TestListItems: the cards of the backlog and of sprints, and the tasks of both kinds.
func TestListItems(t *testing.T) {
	answers := map[string]string{
		"/iterations":         `[{"_id":"s"}]`,
		"/iterations/s/items": `[{"_id":"c","tasks":[{"_id":"t1"}]},{"_id":"t2","users":[]}]`,
		"/backlog/items":      `[{"bucket":"In","id":"i","items":[{"_id":"a"},{"_id":"b"}]}]`,
	}
	c, _ := serve(t, paths(answers))
	type items = map[mapping.ObjectID]bool
	cards, tasks, err := c.ListItems(ctx())
	if diff := cmp.Diff([]items{{"a": true, "b": true, "c": true}, {"t1": true, "t2": true}}, []items{cards, tasks}); err != nil || diff != "" {
		t.Error(err, diff)
	}
	delete(answers, "/iterations/s/items")
	broken, _ := serve(t, paths(answers))
	_, _, err = broken.ListItems(ctx())
	wantFault(t, err, mapping.ErrUnavailable)
}

// The lookup that proves absence is complete or an error.
func TestEachCard(t *testing.T) {
	whole := func() map[string]string {
		return map[string]string{
			"/iterations": `[{"_id":"s1"},{"_id":"s2"}]`, "/iterations/s1/items": `[{"_id":"c1"},` + fullTask + `]`,
			"/iterations/s2/items": `[]`, "/backlog/items": `[{"bucket":"In","id":"b","items":[{"_id":"c2"},{"_id":"c1"}]}]`,
		}
	}
	c, _ := serve(t, paths(whole()))
	seen := map[mapping.ObjectID]int{}
	visit := func(card mapping.Card) error { seen[card.ID]++; return nil }
	if err := c.EachCard(ctx(), visit); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[mapping.ObjectID]int{"c1": 2, "c2": 1}, seen); diff != "" {
		t.Error(diff)
	}
	for missing := range whole() {
		broken := whole()
		delete(broken, missing)
		c, _ := serve(t, paths(broken))
		wantFault(t, c.EachCard(ctx(), visit), mapping.ErrUnavailable)
	}
	stop := errors.New("enough")
	for _, end := range []mapping.ObjectID{"c1", "c2"} {
		err := c.EachCard(ctx(), func(card mapping.Card) error {
			if card.ID == end {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) {
			t.Errorf("at %s: %v", end, err)
		}
	}
}
