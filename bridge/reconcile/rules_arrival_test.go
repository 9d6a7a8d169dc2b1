package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

const whyGone = "its route or project is no longer configured"

// cardMoved is a poll that showed the card in another bucket.
func cardMoved(w work) {
	w.inbox[mapping.CardRef("c")] = &mapping.Card{ID: "c", Version: 9, Bucket: "b2", BucketName: "Later"}
}

func isInBucket(name string) func(work) string {
	return func(w work) string {
		if w.pair.Card.BucketName != name {
			return "the card is said to be in " + w.pair.Card.BucketName
		}
		return ""
	}
}

// foundCard carries the marker of the issue.
var foundCard = mapping.Card{
	ID: "c2", CID: 2, Version: 1,
	Summary: versioned(testKeys.AppendComment("", mapping.Marker{Kind: mapping.MarkCard, Link: "lost", Nonce: "m", Partner: "7"}), 1),
}

// original is an older card with the marker of the test's link.
var original = mapping.Card{
	ID: "c1", CID: 1, Version: 1,
	Summary: versioned(testKeys.AppendComment("", mapping.Marker{Kind: mapping.MarkCard, Link: "l", Nonce: "n", Partner: "7"}), 1),
}

func TestRouteGone(t *testing.T) {
	noRoute := func(w work) { w.route = nil }
	checkRule(t, routeGone, []ruleCase{
		{name: "configured", want: pass, check: isState(mapping.Linked, "")},
		{name: "gone", known: noRoute, route: func(r *mapping.Route) { r.Name = "other" }, want: end, check: isState(mapping.Dormant, whyGone)},
		{name: "gone, and parted", known: noRoute, link: func(l *mapping.Link) { l.Parted = true }, want: pass, check: isState(mapping.Linked, "")},
		{name: "its project is not configured", known: func(w work) { w.served = false }, want: end, check: isState(mapping.Dormant, whyGone)},
		{name: "configured, and it takes the issue no more", known: noRoute, want: end, check: isState(mapping.Dormant, whyGone)},
		{
			name: "its project is not configured, whatever it excludes", known: func(w work) { w.served = false }, route: func(r *mapping.Route) { r.Exclude = []string{"acme/web"} },
			want: end, check: isState(mapping.Dormant, whyGone),
		},
		{
			name: "gone while a card is made", known: noRoute, route: func(r *mapping.Route) { r.Name = "other" },
			link: func(l *mapping.Link) { l.State, l.Intent = mapping.Creating, &mapping.Intent{Side: mapping.Planning} },
			want: end, check: func(w work) string {
				if w.pair.Suspended != mapping.Creating || w.pair.Intent == nil {
					return "the card that may have been made is forgotten"
				}
				return isState(mapping.Dormant, whyGone)(w)
			},
		},
		{
			name: "gone before its card is seen", known: knows(noRoute, cardTold(foundCard)), answers: map[string]any{"FindLink": store.ErrNotFound}, asked: []string{"FindLink"},
			route: func(r *mapping.Route) { r.Name = "other" }, link: func(l *mapping.Link) { l.State, l.Card = mapping.Entering, mapping.CardID{} },
			want: end, check: all(isState(mapping.Dormant, whyGone), is("the card is recorded", func(w work) bool { return w.pair.Card.ID == "c2" && w.pair.Suspended == mapping.Entering })),
		},
		{
			name: "gone before its card is seen, which another link has", known: knows(noRoute, cardTold(foundCard)), answers: map[string]any{"FindLink": store.Key{Project: "p", Link: "other"}, "ReadLink": store.ErrNotFound}, asked: []string{"FindLink", "ReadLink"},
			route: func(r *mapping.Route) { r.Name = "other" }, link: func(l *mapping.Link) { l.State, l.Card = mapping.Entering, mapping.CardID{} },
			want: end, err: "is between two links", check: is("the card stays with the other link", func(w work) bool { return w.pair.Card.ID == "" }),
		},
		{
			name: "gone, and a pair that was found by its marker has an older card than the copy that it knows", known: knows(noRoute, toldOf(mapping.CardRef("c1"), &original, store.Snapshot{})),
			link: func(l *mapping.Link) { l.Base, l.Card.CID = nil, 3 }, want: end,
			check: all(tells("restored"), is("the older card is the pair's", func(w work) bool { return w.pair.Card.ID == "c1" })),
		},
		{
			name: "gone, and a pair that agreed keeps its card, whatever has its marker", known: knows(noRoute, toldOf(mapping.CardRef("c1"), &original, store.Snapshot{})),
			link: func(l *mapping.Link) { l.Card.CID = 3 }, want: end,
			check: is("its card is as it was", func(w work) bool { return w.pair.Card.ID == "c" }),
		},
		{name: "gone, and the card was moved", known: func(w work) { noRoute(w); cardMoved(w) }, want: end, check: isInBucket("Later")},
		{
			name: "it excludes the repository", known: noRoute, route: func(r *mapping.Route) { r.Repositories, r.Exclude = []string{"acme/*"}, []string{"acme/web"} },
			want: end, check: isState(mapping.Dormant, "route web excludes its repository"),
		},
		{
			name: "it makes no issues of cards now", known: noRoute,
			link: func(l *mapping.Link) {
				l.Origin, l.Issue, l.State = mapping.Planning, mapping.IssueID{}, mapping.Entering
			},
			want: end, check: func(w work) string {
				if len(w.history) != 1 || w.history[0].What != "dormant" {
					return "nobody is told that the card waits in vain"
				}
				return isState(mapping.Dormant, "route web makes no issues of cards now")(w)
			},
		},
		{
			name: "it does not, and an issue was about to be made", known: noRoute,
			link: func(l *mapping.Link) {
				l.Origin, l.Issue, l.State, l.Intent = mapping.Planning, mapping.IssueID{Repo: "acme/web"}, mapping.Creating, &mapping.Intent{Side: mapping.GitHub}
			},
			want: end, check: func(w work) string {
				if w.pair.Suspended != mapping.Entering || w.pair.Intent != nil || w.pair.Issue.Repo != "" {
					return "it goes on as it was, and not with a new decision"
				}
				return isState(mapping.Dormant, "route web makes no issues of cards now")(w)
			},
		},
		{
			name: "gone for long", known: noRoute, route: func(r *mapping.Route) { r.Name = "other" },
			link: func(l *mapping.Link) { l.State, l.Suspended = mapping.Dormant, mapping.Left }, want: end, check: func(w work) string {
				if w.pair.Suspended != mapping.Left || len(w.history) > 0 {
					return "it forgot the state that it came from, or told it again"
				}
				return isState(mapping.Dormant, whyGone)(w)
			},
		},
	})
}

func TestPartedPairs(t *testing.T) {
	parting := func(l *mapping.Link) { l.Parted = true }
	owing := func(l *mapping.Link) {
		l.Parted, l.Pending = true, []mapping.Pending{{ID: "p", Side: mapping.GitHub, Attribute: mapping.Title}}
	}
	checkRule(t, parted, []ruleCase{
		{name: "not parted", want: pass},
		{name: "parted", link: parting, want: end},
		{name: "parted, and the card was moved", link: parting, known: cardMoved, want: end, check: isInBucket("Later")},
		{name: "parted, and a write may have run over a text", link: owing, want: pass},
		{name: "parted, and only planning was written", link: func(l *mapping.Link) { owing(l); l.Pending[0].Side = mapping.Planning }, want: end},
		{name: "parted, and nobody can bring the text back", link: owing, known: func(w work) { w.route = nil }, want: end},
		{name: "parted, in a dry run", link: owing, set: func(s *Settings) { s.DryRun = true }, want: end},
	})
}

func TestPausedRoutes(t *testing.T) {
	checkRule(t, paused, []ruleCase{
		{name: "not paused", want: pass},
		{name: "paused", process: process{paused: true}, want: end, err: "its route is paused"},
		{name: "paused, and it is taken apart", process: process{paused: true}, link: func(l *mapping.Link) { l.Cleaning = true }, want: pass},
	})
}

func TestRouteBack(t *testing.T) {
	reads := func(state mapping.LinkState, anew bool) func(work) string {
		return func(w work) string {
			if w.mustRead != anew || w.pair.Unfinished != anew {
				return "what was seen before the interruption is believed, or read for nothing"
			}
			return isState(state, "")(w)
		}
	}
	checkRule(t, routeBack, []ruleCase{
		{name: "never gone", check: reads(mapping.Linked, false)},
		{name: "linked before", link: func(l *mapping.Link) { l.State, l.Suspended = mapping.Dormant, mapping.Linked }, check: reads(mapping.Linked, true)},
		{name: "left before", link: func(l *mapping.Link) { l.State, l.Suspended = mapping.Dormant, mapping.Left }, check: reads(mapping.Left, true)},
		{name: "not entered before", link: func(l *mapping.Link) { l.State, l.Suspended = mapping.Dormant, mapping.Entering }, check: reads(mapping.Entering, true)},
		{name: "parted since", link: func(l *mapping.Link) { l.State, l.Parted = mapping.Dormant, true }, check: reads(mapping.Dormant, false)},
	})
}

func TestTasksWaitForTheirSiblings(t *testing.T) {
	making := func(side mapping.Side) func(*mapping.Link) {
		return func(l *mapping.Link) { l.State, l.Intent = mapping.Creating, &mapping.Intent{Side: side} }
	}
	checkRule(t, withSiblings, []ruleCase{
		{name: "nothing is to be made", want: pass},
		{name: "its task is to be made", link: making(mapping.Planning), want: end},
		{name: "its sub-issue is to be made", link: making(mapping.GitHub), want: pass},
	})
}

func TestLeaveOrReturn(t *testing.T) {
	labels := func(r *mapping.Route) { r.Labels = []string{"plan"} }
	seen := func(labels ...string) func(work) {
		return func(w work) {
			w.issue = &mapping.Issue{ID: 7, Repo: "acme/web", Number: 12, State: "open", Labels: labels}
		}
	}
	left := func(l *mapping.Link) { l.State, l.Why = mapping.Left, "it has none of the labels plan" }
	told := func(what string, then func(work) string) func(work) string {
		return func(w work) string {
			if len(w.history) != 1 || w.history[0].What != what {
				return "the history does not tell of it, or twice"
			}
			return then(w)
		}
	}
	checkRule(t, leaveOrReturn, []ruleCase{
		{name: "it matches", route: labels, known: seen("plan"), want: pass, check: isState(mapping.Linked, "")},
		{name: "it matches no more", route: labels, known: seen("bug"), want: end, check: told("left", isState(mapping.Left, "it has none of the labels plan"))},
		{name: "a person keeps it out", known: seen("plan:ignore"), want: end, check: told("left", isState(mapping.Left, "it has the label plan:ignore"))},
		{name: "it still does not match", route: labels, link: left, known: seen("bug"), want: end, check: isState(mapping.Left, "it has none of the labels plan")},
		{name: "nothing was seen of it, and it was left", route: labels, link: left, want: end, check: isState(mapping.Left, "it has none of the labels plan")},
		{name: "nothing was seen of it", route: labels, want: pass, check: isState(mapping.Linked, "")},
		{name: "it is gone", route: labels, link: func(l *mapping.Link) { l.State = mapping.Orphaned }, known: seen("plan"), want: end, check: isState(mapping.Orphaned, "")},
		{
			name: "it matches again, and is read", route: labels, link: left, known: seen("plan"), answers: map[string]any{"ReadIssue": errAway},
			err: "unavailable", asked: []string{"ReadIssue"}, check: told("back", isState(mapping.Linked, "")),
		},
		{
			name: "a sub-issue matches whatever the route asks for", route: labels, link: func(l *mapping.Link) { l.Kind = mapping.SubIssue }, known: seen("bug"),
			want: pass, check: isState(mapping.Linked, ""),
		},
	})
}

// TestLeavingIsToldOnce: an issue that stays out for another reason says so.
func TestLeavingIsToldOnce(t *testing.T) {
	c := ruleCase{}
	w := c.work()
	w.yield = func(s *Step) bool { s.Answer(None{}, nil); s.Now = noon.Add(time.Second); return true }
	for _, why := range []string{"one", "one", "two"} {
		mover(w).leave(why)
	}
	if len(w.history) != 2 || w.history[0].Why != "one" || w.history[1].Why != "two" || w.pair.Why != "two" {
		t.Errorf("the history is %+v", w.history)
	}
}
