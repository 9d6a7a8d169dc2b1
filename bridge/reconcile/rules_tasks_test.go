package reconcile

import (
	"fmt"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// taskMarked is a text with the marker of a task.
func taskMarked(text, nonce, partner string) string {
	return testKeys.AppendComment(text, mapping.Marker{Kind: mapping.MarkTask, Link: "l", Nonce: nonce, Partner: partner})
}

func TestTrackingTask(t *testing.T) {
	rule := does(taskMaker.ensureTracking)
	none := links(func(l *mapping.Link) { l.Children = nil; delete(l.Base, mapping.State) })
	wanted := func(intent mapping.Intent) func(*mapping.Link) {
		return links(none, func(l *mapping.Link) {
			i := intent
			i.Side = mapping.Planning
			l.Children = []*mapping.Pair{{Kind: mapping.Tracking, State: mapping.Creating, Nonce: "n", Intent: &i}}
		})
	}
	maybe := wanted(mapping.Intent{Sent: true, At: noon.Add(-time.Hour)})
	task := func(state string, version int64, text string) mapping.Task {
		return mapping.Task{ID: "t2", CID: 2, Version: version, State: versioned(state, version), Summary: versioned(text, 1)}
	}
	made := func(t mapping.Task) map[string]any { return map[string]any{"CreateTasks": []mapping.Task{t}} }
	listed := func(tasks ...mapping.Task) map[string]any { return map[string]any{"ReadTasks": tasks} }
	known := knows(whole, unchanged())
	asked := savedAnd("CreateTasks")
	has := func(id mapping.ObjectID) func(work) string {
		return is("the card has its tracking task", func(w work) bool {
			c := w.link.Child(mapping.Tracking)
			return c != nil && c.State == mapping.Linked && c.Card.ID == id && c.Intent == nil
		})
	}
	isWanted := func(sent bool) func(work) string {
		return is("it is wanted still", func(w work) bool {
			c := w.link.Child(mapping.Tracking)
			return c.State == mapping.Creating && c.Intent.Sent == sent
		})
	}
	ours := taskMarked("", "n", trackingPartner)
	counted := is("the card's counters moved by one", func(w work) bool { return w.pair.Card.CountersVersion == 1 })
	checkRule(t, rule, []ruleCase{
		{name: "there is one", known: known, check: has("t")},
		{name: "there is none", link: none, known: known, answers: made(task("", 1, ours)), asked: asked, check: all(has("t2"), tells("create"), counted, agreedOn(mapping.State, mapping.StateTodo, mapping.StateTodo, 1))},
		{name: "the route keeps none", link: none, route: func(r *mapping.Route) { r.TrackingTask = false }, known: known},
		{name: "the route only goes to GitHub", link: none, route: func(r *mapping.Route) { r.Direction = mapping.ToGitHub }, known: known},
		{name: "planning has refused one", link: links(wanted(mapping.Intent{}), func(l *mapping.Link) { l.Refused = map[mapping.Attribute]mapping.Refusal{mapping.State: {}} }), known: known, check: isWanted(false)},
		{name: "planning refuses one: the state is blocked", link: none, known: known, answers: map[string]any{"CreateTasks": &mapping.Rejection{Message: "no"}}, asked: asked, check: all(refusedFor(mapping.State, mapping.Planning, mapping.StateTodo), tells("refused"), isWanted(false))},
		{name: "the card is gone", link: none, known: known, answers: map[string]any{"CreateTasks": mapping.ErrNotFound, "Missed": Absence{First: noon}}, asked: append(append([]string{}, asked...), "CheckProject", "Missed"), err: "to be read once more"},
		{name: "planning is away", link: none, known: known, answers: map[string]any{"CreateTasks": errAway}, asked: asked, err: "create tracking task", check: isWanted(false)},
		{name: "its answer is lost", link: none, known: known, answers: map[string]any{"CreateTasks": mapping.ErrUncertain}, asked: asked, err: "to be looked for", check: isWanted(true)},
		{name: "the answer lacks it", link: none, known: known, answers: map[string]any{"CreateTasks": []mapping.Task{}}, asked: asked, err: "not in the answer", check: isWanted(true)},
		{name: "it was made, as the tasks show by its marker", link: maybe, known: known, answers: listed(task(mapping.StateDone, 3, ours)), asked: []string{"ReadTasks"}, counts: []string{"3 lookup"}, check: all(has("t2"), agreedOn(mapping.State, mapping.StateTodo, mapping.StateTodo, 2))},
		{name: "its marker was taken off: it is known by its text", link: maybe, known: known, answers: listed(task("", 1, trackingText)), asked: []string{"ReadTasks"}, check: has("t2")},
		{name: "a person's task is not it: a second look proves its absence", link: maybe, known: known, answers: listed(task("", 1, "mine")), asked: []string{"ReadTasks"}, err: "second lookup", check: isWanted(true)},
		{
			name: "the store was lost: the task of before has another state, and either side may have changed", link: none, known: knows(lacking, unchanged()), answers: listed(task(mapping.StateDone, 3, taskMarked("", "n9", trackingPartner))), asked: []string{"ReadTasks"},
			check: all(has("t2"), notAgreedOn(mapping.State), holds(mapping.State, mapping.StateDone, 3), is("its marker's nonce is known", func(w work) bool { return w.link.Child(mapping.Tracking).Nonce == "n9" })),
		},
		{name: "the store was lost: the task of before is as new", link: none, known: knows(lacking, unchanged()), answers: listed(task("", 0, ours)), asked: []string{"ReadTasks"}, check: all(has("t2"), agreedOn(mapping.State, mapping.StateTodo, mapping.StateTodo, 0))},
		{name: "the project was not seen as a whole", link: none, known: unchanged(), answers: map[string]any{"ReadAdoption": Adoption{}}, asked: adoption, err: notAdopted},
		{name: "the lease is lost", link: none, known: known, answers: map[string]any{"Save": store.ErrLeaseLost}, asked: []string{"Save"}, err: "lease", check: isWanted(false)},
	})
}

func TestMarkTasks(t *testing.T) {
	rule := does(signer.markTasks)
	seen := func(text string, change ...func(*mapping.Task)) func(work) {
		return func(w work) {
			one := mapping.Task{ID: "t", Version: 1, Summary: versioned(text, 1), Owner: "c"}
			for _, f := range change {
				f(&one)
			}
			w.tasks.keepNewest(one)
		}
	}
	ours := func(change ...func(*mapping.Pair)) func(*mapping.Link) {
		return func(l *mapping.Link) {
			l.Children[0].Nonce = "tn"
			for _, f := range change {
				f(l.Children[0])
			}
		}
	}
	marks := savedAnd(`Update task:t summary="text\n\n…`)
	ok := map[string]any{"Update": Updated{}}
	digest := mapping.DigestText("text")
	isMarked := is("its text does not get it twice", func(w work) bool { return w.link.Children[0].MarkerRestored == digest })
	refused := func(value string) func(*mapping.Pair) {
		return func(p *mapping.Pair) {
			p.Refused = map[mapping.Attribute]mapping.Refusal{mapping.Summary: {Side: mapping.Planning, Value: value}}
		}
	}
	checkRule(t, rule, []ruleCase{
		{name: "it has its marker", link: ours(), known: seen(taskMarked("text", "n", trackingPartner))},
		{name: "its marker is off", link: ours(), known: seen("text"), answers: ok, asked: marks, check: all(isMarked, tells("mark"))},
		{name: "it is not known", link: ours()},
		{name: "a person made it", link: ours(func(p *mapping.Pair) { p.Origin = mapping.Planning }), known: seen("text")},
		{name: "it is on another card", link: ours(), known: seen("text", func(t *mapping.Task) { t.Owner = "c2" })},
		{name: "it came back once already", link: ours(func(p *mapping.Pair) { p.MarkerRestored = digest }), known: seen("text")},
		{name: "planning refused this text with it", link: ours(refused(digest)), known: seen("text"), check: is("that is known still", func(w work) bool { return len(w.link.Children[0].Refused) == 1 })},
		{name: "planning refused another text", link: ours(refused("other")), known: seen("text"), answers: ok, asked: marks, check: all(isMarked, is("that is known no more", func(w work) bool { return len(w.link.Children[0].Refused) == 0 }))},
		{name: "its issue moves, and marks go", link: links(ours(), func(l *mapping.Link) { l.Moving = &mapping.Moving{} }), known: seen("text")},
		{name: "the route does not write to planning", link: ours(), route: func(r *mapping.Route) { r.Direction = mapping.ToGitHub }, known: seen("text")},
		{name: "the lease is lost", link: ours(), known: seen("text"), answers: map[string]any{"Save": store.ErrLeaseLost}, asked: []string{"Save"}, err: "lease"},
		{name: "planning refuses it", link: ours(), known: seen("text"), answers: map[string]any{"Update": &mapping.Rejection{Message: "no"}}, asked: marks, check: all(tells("refused"), is("the text goes on without", func(w work) bool { return w.link.Children[0].Refused[mapping.Summary].Value == digest }))},
		{name: "somebody was faster: at a later look", link: ours(), known: seen("text"), answers: map[string]any{"Update": &mapping.VersionConflict{}}, asked: marks, check: tells()},
		{name: "the task is gone", link: ours(), known: seen("text"), answers: map[string]any{"Update": mapping.ErrNotFound}, asked: marks, check: all(tells(), is("that is no failure", func(w work) bool { return w.listErr == nil }))},
		{name: "planning is away: the pair agrees without", link: ours(), known: seen("text"), answers: map[string]any{"Update": errAway}, asked: marks, check: is("that is kept for the end", func(w work) bool { return w.listErr != nil })},
	})
}

func TestSubIssuesGetTasks(t *testing.T) {
	rule := ofSubIssues(taskMaker.makeSubTasks)
	sub := func(r *mapping.Route) { r.Tasks = mapping.TasksSubIssues }
	part := func(id int64, change ...func(*mapping.Pair)) func(*mapping.Link) {
		return func(l *mapping.Link) {
			p := mapping.NewPart(mapping.GitHub, fmt.Sprint("n", id), noon.Add(-time.Minute))
			p.Issue = mapping.IssueID{ID: id, Repo: "acme/web", Number: int(id)}
			for _, f := range change {
				f(p)
			}
			l.SubLinks = append(l.SubLinks, p)
		}
	}
	issue := func(id int64) mapping.Issue {
		return issueOf(func(i *mapping.Issue) { i.ID, i.Number = id, int(id) })
	}
	task := func(id string, partner string) mapping.Task {
		return mapping.Task{ID: mapping.ObjectID(id), Version: 1, Title: versioned("a", 1), Summary: versioned(taskMarked("", "n", partner), 1), Estimate: versioned("", 1)}
	}
	linked := func(want ...mapping.LinkState) func(work) string {
		return is("the sub-issues are in their states", func(w work) bool {
			if len(w.link.SubLinks) != len(want) {
				return false
			}
			for i, p := range w.link.SubLinks {
				if p.State != want[i] {
					return false
				}
			}
			return true
		})
	}
	read := []string{"ReadIssue", "Save", "BeginWrite", "CreateTasks"}
	made := map[string]any{"ReadIssue": issue(20), "CreateTasks": []mapping.Task{task("t20", "20")}}
	checkRule(t, rule, []ruleCase{
		{name: "there are none", route: sub, known: whole},
		{name: "the route makes none", link: part(20), known: whole, check: linked(mapping.Creating)},
		{name: "a dry run", link: part(20), route: sub, set: func(s *Settings) { s.DryRun = true }, known: whole, check: linked(mapping.Creating)},
		{name: "one", link: part(20), route: sub, known: whole, answers: made, asked: read, check: all(linked(mapping.Linked), tells("create"), is("the card's counters moved by one", func(w work) bool { return w.pair.Card.CountersVersion == 1 }))},
		{name: "one that a task becomes a sub-issue of", link: part(20, func(p *mapping.Pair) { p.Intent.Side = mapping.GitHub }), route: sub, known: whole, check: linked(mapping.Creating)},
		{
			name: "two, with one request, answered in another order", link: links(part(20), part(21)), route: sub, known: whole, asked: []string{"ReadIssue", "ReadIssue", "Save", "BeginWrite", "CreateTasks"},
			answers: map[string]any{"ReadIssue": turns{issue(20), issue(21)}, "CreateTasks": []mapping.Task{task("t21", "21"), task("t20", "20")}},
			check:   all(linked(mapping.Linked, mapping.Linked), is("each has its own task", func(w work) bool { return w.link.SubLinks[0].Card.ID == "t20" && w.link.SubLinks[1].Card.ID == "t21" })),
		},
		{name: "one that a person keeps out", link: part(20), route: sub, known: whole, answers: map[string]any{"ReadIssue": issueOf(func(i *mapping.Issue) { i.ID, i.Number, i.Labels = 20, 20, []string{"plan:ignore"} })}, asked: read[:1], check: linked()},
		{name: "one whose title planning refused", link: part(20, func(p *mapping.Pair) {
			p.Refused = map[mapping.Attribute]mapping.Refusal{mapping.Title: {Value: mapping.DigestText("a")}}
		}), route: sub, known: whole, answers: made, asked: read[:1], check: linked(mapping.Creating)},
		{name: "one whose title was another when planning refused it", link: part(20, func(p *mapping.Pair) {
			p.Refused = map[mapping.Attribute]mapping.Refusal{mapping.Title: {Value: mapping.DigestText("z")}}
		}), route: sub, known: whole, answers: made, asked: read, check: linked(mapping.Linked)},
		{name: "GitHub is away", link: part(20), route: sub, known: whole, answers: map[string]any{"ReadIssue": errAway}, asked: read[:1], err: "unavailable", check: linked(mapping.Creating)},
		{name: "planning refuses its title: that is blocked", link: part(20), route: sub, known: whole, answers: map[string]any{"ReadIssue": issue(20), "CreateTasks": &mapping.Rejection{Field: "title", Message: "odd"}}, asked: read, check: all(linked(mapping.Creating), is("the title is", func(w work) bool { return len(w.link.SubLinks[0].Refused) == 1 }))},
		{
			name: "planning refuses two: each goes alone", link: links(part(20), part(21)), route: sub, known: whole, check: linked(mapping.Linked, mapping.Linked),
			answers: map[string]any{"ReadIssue": turns{issue(20), issue(21)}, "ReadTasks": []mapping.Task{}, "CreateTasks": turns{&mapping.Rejection{}, []mapping.Task{task("t20", "20")}, []mapping.Task{task("t21", "21")}}},
			asked:   []string{"ReadIssue", "ReadIssue", "Save", "BeginWrite", "CreateTasks", "ReadTasks", "Save", "BeginWrite", "CreateTasks", "Save", "BeginWrite", "CreateTasks"},
		},
		{name: "its answer is lost", link: part(20), route: sub, known: whole, answers: map[string]any{"ReadIssue": issue(20), "CreateTasks": mapping.ErrUncertain}, asked: read, err: "to be looked for", check: is("it may have been made", func(w work) bool { return w.link.SubLinks[0].Intent.Sent })},
		{name: "the store was lost: its task is there", link: part(20), route: sub, known: lacking, answers: map[string]any{"ReadTasks": []mapping.Task{task("t20", "20")}, "ReadIssue": issue(20)}, asked: []string{"ReadTasks", "ReadIssue"}, check: linked(mapping.Linked)},
		{name: "the card is full", link: part(20), route: func(r *mapping.Route) { sub(r); r.TasksPerCard = 1 }, known: knows(whole, func(w work) { w.link.Family.Forgotten = []mapping.ObjectID{"old"} }), check: all(linked(mapping.Creating), tells("full"), is("it is looked at later", func(w work) bool { return w.showAgain.after == roomWait && w.link.SubLinks[0].Why == whyFull }))},
		{name: "the card has room for one", link: links(part(20), part(21)), route: func(r *mapping.Route) { sub(r); r.TasksPerCard = 1 }, known: whole, answers: made, asked: read, check: linked(mapping.Linked, mapping.Creating)},
		{name: "there is room again", link: part(20, func(p *mapping.Pair) { p.Why = whyFull }), route: sub, known: whole, answers: made, asked: read, check: all(linked(mapping.Linked), is("it waits for nothing", func(w work) bool { return w.link.SubLinks[0].Why == "" }))},
	})
}
