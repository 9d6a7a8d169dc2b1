package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/githubtest"
	"planbridge/mapping"
)

// purse counts what the client takes of what it shares.
type purse struct {
	writes, points int
	now            time.Time
}

func (p *purse) TakeWrite(context.Context, github.WriteClass) (time.Duration, error) {
	p.writes++
	return 0, nil
}

func (p *purse) TakePoints(_ context.Context, want int) (int, time.Duration, error) {
	p.points += want
	return want, 0, nil
}

func (*purse) Asker(context.Context) github.Asker                  { return github.Asker{} }
func (*purse) UseReserved(context.Context, github.WriteClass) bool { return false }
func (p *purse) Now() time.Time                                    { return p.now }

// several opens issues, and returns the changes that add a label to each.
func (w *world) several(n int) (changes []github.LabelChange) {
	w.repo.Open("octocat", githubtest.IssueSpec{Title: "has the labels", Labels: []string{"todo", "bug"}})
	for range n {
		number := w.repo.Open("octocat", githubtest.IssueSpec{Title: "one of several", Labels: []string{"bug"}})
		changes = append(changes, github.LabelChange{Repo: repo, Node: w.repo.Issue(number).NodeID, Add: []string{"todo"}})
	}
	return changes
}

// labels are those of the issues that several opened.
func (w *world) labels(n int) (out [][]string) {
	for i := range n {
		out = append(out, w.repo.Issue(i+2).Labels)
	}
	return out
}

// TestLabelsOfSeveralIssues: one write changes the labels of several issues, and leaves those of
// people. Each change that GraphQL cannot make gets a request of its own.
func TestLabelsOfSeveralIssues(t *testing.T) {
	w := newWorld(t, githubtest.Options{Enterprise: true})
	changes, p := w.several(4), &purse{}
	changes[1].Add, changes[1].Remove = nil, []string{"BUG"}
	changes[2].Add = []string{"todo", "nobody has made it"}
	w.repo.Delete(5) // the last one's issue
	c := w.client(t, func(o *github.Options) { o.Share = p })

	got := c.ChangeLabels(background(t), changes)
	want := []github.LabelAnswer{{Labels: []string{"bug", "todo"}}, {}, {Alone: true}, {Alone: true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("answers are %+v\nwant        %+v", got, want)
	}
	if now := w.labels(3); fmt.Sprint(now) != "[[bug todo] [] [bug]]" {
		t.Errorf("labels are %v", now)
	}
	if w.Writes() != 1 || w.Calls() != 2 || p.writes != 1 || p.points != 0 {
		t.Errorf("%d requests, of them %d writes, cost %d writes and %d of REST's points", w.Calls(), w.Writes(), p.writes, p.points)
	}
	if c.LabelBatch() != 20 {
		t.Errorf("the next one has %d issues", c.LabelBatch())
	}
}

// TestLabelsWithoutGraphQL: a server that has no GraphQL, or not for this account, is not asked
// again for each, but once an hour.
func TestLabelsWithoutGraphQL(t *testing.T) {
	for name, how := range map[string]func(*world){
		"not there": func(w *world) { w.SetTraits(func(t *githubtest.Traits) { t.NoGraphQL = http.StatusNotFound }) },
		"forbidden": func(w *world) { w.SetTraits(func(t *githubtest.Traits) { t.NoGraphQL = http.StatusForbidden }) },
		"an account that may not": func(w *world) {
			w.SetTraits(func(t *githubtest.Traits) { t.NoPush = true })
		},
		"another schema": func(w *world) {
			w.Fault(githubtest.Fault{
				Match: "graphql*", Times: -1, Kind: githubtest.Status, Code: http.StatusOK,
				Body: `{"errors":[{"message":"Field 'addLabelsToLabelable' doesn't exist on type 'Mutation'","extensions":{"code":"undefinedField"}}]}`,
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, githubtest.Options{})
			changes := w.several(2)
			how(w)
			p := &purse{now: time.Now()}
			c := w.client(t, func(o *github.Options) { o.Share = p })
			for i, a := range c.ChangeLabels(background(t), changes) {
				if !a.Alone {
					t.Errorf("change %d: %+v", i, a)
				}
			}
			if c.LabelBatch() > 1 {
				t.Errorf("the next one has %d issues", c.LabelBatch())
			}
			if p.now = p.now.Add(time.Hour); c.LabelBatch() != 20 {
				t.Errorf("an hour later one has %d issues", c.LabelBatch())
			}
		})
	}
}

// TestLostLabels: nobody knows what became of a mutation without an answer. GitHub may have ended
// one that took too long. So the next one is for half as many as this one was allowed to be,
// however small this one was.
func TestLostLabels(t *testing.T) {
	for _, kind := range []githubtest.FaultKind{githubtest.Drop, githubtest.After, githubtest.Hollow, githubtest.Truncate} {
		t.Run(string(kind), func(t *testing.T) {
			w := newWorld(t, githubtest.Options{})
			changes := w.several(8)
			fault := w.Fault(githubtest.Fault{Match: "graphql.labels", Times: -1, Kind: kind})
			c := w.client(t)
			for i, a := range c.ChangeLabels(background(t), changes) {
				if !errors.Is(a.Err, mapping.ErrUncertain) || a.Alone {
					t.Errorf("change %d: %+v", i, a)
				}
			}
			for _, most := range []int{10, 5, 2, 0} {
				if c.LabelBatch() != most {
					t.Errorf("the next one has %d issues, want %d", c.LabelBatch(), most)
				}
				c.ChangeLabels(background(t), changes[:2])
			}
			fault.Remove()
			c = w.client(t)
			for i, a := range c.ChangeLabels(background(t), changes) {
				if a.Err != nil || a.Alone || len(a.Labels) != 2 {
					t.Errorf("again, change %d: %+v", i, a)
				}
			}
		})
	}
}

// TestSmallerLabelBatchGrows: after one that was lost and others that were not, as many issues go
// together as before.
func TestSmallerLabelBatchGrows(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	changes := w.several(20)
	w.Fault(githubtest.Fault{Match: "graphql.labels", Kind: githubtest.After})
	c := w.client(t)
	c.ChangeLabels(background(t), changes)
	for _, most := range []int{10, 20, 20} {
		if c.LabelBatch() != most {
			t.Errorf("the next one has %d issues, want %d", c.LabelBatch(), most)
		}
		c.ChangeLabels(background(t), changes[:most])
	}
}

// TestLabelsBeyondGraphQLsLimit: changes beyond GraphQL's hourly limit go by REST, which has a
// limit of its own.
func TestLabelsBeyondGraphQLsLimit(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	changes := w.several(2)
	limit := githubtest.PrimaryLimit(time.Now().Add(time.Hour))
	limit.Match = "graphql*"
	limit.Header.Set("X-Ratelimit-Resource", "graphql")
	w.Fault(limit)
	c := w.client(t)
	for i, a := range c.ChangeLabels(background(t), changes) {
		if !a.Alone {
			t.Errorf("change %d: %+v", i, a)
		}
	}
	if c.LabelBatch() > 1 {
		t.Errorf("the next one has %d issues", c.LabelBatch())
	}
	must[[]string](t)(c.AddLabels(background(t), repo, 2, []string{"todo"}))
}
