package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// asked returns the ledger's entries that wait for an answer.
func (w *world) asked() []mapping.Conflict {
	return slices.DeleteFunc(w.conflicts(), func(c mapping.Conflict) bool { return c.State != mapping.ConflictOpen })
}

// TestOverrunIsAsked: policy ask, and a person edits the issue between our read and our write. The
// edit is back on the issue and people are asked, as if it had been seen in time; an operator's
// answer holds then.
func TestOverrunIsAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attr        mapping.Attribute
		issue, card string
		lag         func(int) time.Duration
	}{
		"a title":                   {mapping.Title, "tok8", "tok9", nil},
		"a text":                    {mapping.Summary, "tok8", "tok9", nil},
		"a title, no echo comes":    {mapping.Title, "tok8", "tok9", never},
		"a title, the echo is late": {mapping.Title, "tok8", "tok9", func(int) time.Duration { return 45 * time.Second }},
	} {
		for _, winner := range []mapping.Side{"", mapping.GitHub, mapping.Planning} {
			t.Run(fmt.Sprint(name, " answered ", winner), func(t *testing.T) {
				t.Parallel()
				err := inWorld(t, func(w *world) {
					w.decideBy(mapping.PolicyAsk)
					w.agree()
					w.hub.lag = c.lag
					w.race("EditIssue", func() { w.rewriteIssue(c.attr, c.issue) })
					w.rewriteCard(c.attr, c.card)
					w.settle()
					g, p := w.views()
					asked := w.asked()
					if g[c.attr].Value != c.issue || p[c.attr].Value != c.card || len(asked) != 1 {
						w.fail("GitHub has %q, planning %q, asked is %+v", g[c.attr].Value, p[c.attr].Value, asked)
						return
					}
					if q := asked[0]; q.GitHub != c.issue || q.Planning != c.card || !slices.Contains(w.issue().Labels, "plan:conflict") {
						w.fail("asked is %+v, the labels are %v", q, w.issue().Labels)
					}
					if winner == "" {
						w.verify(ends{open: true, conflicts: 1})
						return
					}
					q := asked[0]
					q.State, q.Winner = mapping.ConflictAnswered, winner
					w.check(w.store.PutConflict(context.Background(), q))
					w.check(w.store.Enqueue(context.Background(), store.Key{Project: project, Link: q.Link}, 0, false))
					w.settle()
					want := map[mapping.Side]string{mapping.GitHub: c.issue, mapping.Planning: c.card}[winner]
					w.verify(ends{want: values{c.attr: want}, conflicts: 1})
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestOverrunByNewest: policy newest, and our write runs over a person's edit. Where
// the times tell that this was the later one it stands; where they do not, people are
// asked.
func TestOverrunByNewest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pause time.Duration // between the poll that saw the card and the edit
		ends  ends
		asked int
	}{
		"later":              {3 * time.Second, ends{want: values{mapping.Title: "tok8"}, conflicts: 1}, 0},
		"in the same second": {0, ends{open: true, conflicts: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := inWorld(t, func(w *world) {
				w.decideBy(mapping.PolicyNewest)
				w.agree()
				w.race("EditIssue", func() {
					time.Sleep(c.pause)
					w.rewriteIssue(mapping.Title, "tok8")
				})
				w.rewriteCard(mapping.Title, "tok9")
				w.settle()
				w.verify(c.ends)
				if asked := w.asked(); len(asked) != c.asked {
					w.fail("asked is %+v", asked)
				}
				if c.asked > 0 && (w.issue().Title != "tok8" || w.card().Title.Value != "tok9") {
					w.fail("the issue is called %q and the card %q", w.issue().Title, w.card().Title.Value)
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNewerEditStands: our write runs over an edit, and a person edits what it wrote
// before its echo comes. The newer edit stands; the older one is kept.
func TestNewerEditStands(t *testing.T) {
	t.Parallel()
	for _, policy := range []mapping.Policy{mapping.PolicyGitHub, mapping.PolicyPlanning, mapping.PolicyAsk, mapping.PolicyNewest} {
		for _, a := range []mapping.Attribute{mapping.Title, mapping.Summary} {
			for name, crossed := range map[string]time.Duration{"before the edit is seen": 200 * time.Millisecond, "after it crossed": 20 * time.Second} {
				t.Run(fmt.Sprint(policy, " ", a, " echo ", name), func(t *testing.T) {
					t.Parallel()
					err := inWorld(t, func(w *world) {
						w.decideBy(policy)
						w.agree()
						echo := w.hub.deliveries + 2
						w.hub.lag = func(n int) time.Duration {
							if n == echo {
								return time.Second + crossed
							}
							return 500 * time.Millisecond
						}
						w.race("EditIssue", func() {
							w.rewriteIssue(a, "tok8")
							w.after(time.Second, func() { w.editIssue(a, to("tok7")) })
						})
						w.words.removed[word{a, "tok9"}] = true
						w.rewriteCard(a, "tok9")
						w.settle()
						w.words.removed[word{a, "tok9"}] = true
						w.verify(ends{want: values{a: "tok7"}, conflicts: 2})
						if asked := w.asked(); len(asked) > 0 {
							w.fail("asked is %+v", asked)
						}
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// A person goes on writing while the comment is posted that keeps what was there. The bridge reads
// the issue anew: the replaced text is on the issue before, also where the store is lost in that
// moment.
func TestEditWhileTheLoserIsKept(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		policy(mapping.PolicyPlanning)(w)
		w.restart()
		w.agree()
		w.editIssue(mapping.Title, to("tok7"))
		w.rewriteCard(mapping.Title, "tok9")
		meanwhile, written := to("tok8"), 0
		w.faults.armed, w.faults.before = true, func(_ int, p point) {
			switch {
			case p.name == "CreateComment" && meanwhile != nil:
				w.editIssue(mapping.Title, meanwhile)
				meanwhile = nil
			case p.name == "EditIssue":
				written++
				if now := w.issue().Title; !slices.ContainsFunc(w.issue().comments, func(c comment) bool { return strings.Contains(c.Body, now) }) {
					w.fail("%q is written over, and no comment keeps it", now)
				}
			}
		}
		w.settle()
		if written == 0 || w.issue().Title != "tok9" {
			w.fail("%d writes; the issue is %q", written, w.issue().Title)
		}
	})
}

// TestPartedPairGetsItsTextBack: a write of ours runs over an edit, and the pair is parted before
// its echo comes. The edit is kept all the same.
func TestPartedPairGetsItsTextBack(t *testing.T) {
	t.Parallel()
	for name, lag := range map[string]func(int) time.Duration{
		"the echo comes after it": func(int) time.Duration { return time.Second },
		"no echo comes":           never,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.decideBy(mapping.PolicyGitHub)
				w.agree()
				w.hub.lag = lag
				w.race("EditIssue", func() {
					w.rewriteIssue(mapping.Title, "tok8")
					w.after(300*time.Millisecond, func() { w.alter(part) })
				})
				w.rewriteCard(mapping.Title, "tok9")
				w.settle()
				if w.issue().Title != "tok8" || w.card().Title.Value != "tok9" || !w.link().Parted || w.link().State != mapping.Dormant {
					w.fail("the issue is called %q and the card %q; the link is %s", w.issue().Title, w.card().Title.Value, w.link().State)
				}
				w.editIssue(mapping.Title, to("tok7"))
				w.editCard(mapping.Title, to("tok6"))
				w.settle()
				if w.issue().Title != "tok7" || w.card().Title.Value != "tok6" {
					w.fail("parted, the issue is called %q and the card %q", w.issue().Title, w.card().Title.Value)
				}
			})
		})
	}
}

// part is what an operator's unlink makes of a link.
func part(l *mapping.Link) { l.State, l.Parted = mapping.Dormant, true }
