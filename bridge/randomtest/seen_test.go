package randomtest_test

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// seen is everything that can be known about a world from outside the bridge: the input of the
// checker.
type seen struct {
	issues []seenIssue
	cards  []seenCard // and the tasks that stand for sub-issues
	takenIn
	// forgotten says that the store was lost or went back: old items are not known then.
	forgotten bool
	// decides says that the route has policies under which GitHub may win.
	decides bool
	ledger  []met
	way     mapping.Direction // of the route; "": both
	against []string          // the request sent against it
	public  []span            // when the repository was public
	away    []span            // when the route was not configured
	others  map[string]bool   // the cards whose issues are in the other route's repository
	clean   map[int]bool      // of these, the issues that were taken apart with all marks
	strays  []stray           // pairs of which one item was deleted
	// reparented are the issues that people gave another parent, or none.
	reparented map[int]bool
	apart      map[int]string   // pairs that stay unlinked: the card by the issue's number
	parted     map[int][]string // the cards that operators parted from issues, which have others now
	// named are all partners in markers of issues and cards, by the issue's number and the card's
	// id; nil: nothing was moved. The project to which all were moved is moved.
	named map[string]map[string]bool
	moved string
}

// seenItem is an issue or a card with all it ever was.
type seenItem struct {
	now map[mapping.Attribute]string // without our marks
	// past is every write to it, in order, by attribute.
	past   map[mapping.Attribute][]write
	marks  []mapping.Marker // valid ones in its text
	own    bool             // the bridge made it
	signed bool             // the bridge wrote a marker into it
	away   []span           // when no route was there for it
	unsure bool             // no route may have been there for it
}

type seenIssue struct {
	seenItem
	number    int
	id        int64
	closed    bool
	working   bool    // the in-progress label is on it, open or not
	met       []write // see hubStates
	estimates int     // labels that say one
	// stolen are labels of people that the bridge put on or took off.
	stolen   []string
	comments []keptTexts // of the bridge
	ledgered []keptTexts // texts that only the ledger keeps
	shows    *showing
	staffed  *staffed // nil: nobody assigns anybody
	parent   int      // number; 0: none
	list     *listed
	old      *oldItem // nil: it is younger than the bridge
	leads    bool     // to the other project, by its labels
	crossed  bool     // it was in another repository, which lacks most labels
}

type seenCard struct {
	seenItem
	id       string
	project  string
	of       string // the card of a task; "": it is a card
	bucket   string
	tracking int                           // tasks that carry a tracking marker
	tracked  []write                       // the states of tasks that were its tracking task, and have no marker now
	earlier  map[mapping.Attribute][]write // people's texts on the cards that its issue had before
	says     *saying
	reviewed []write // the reviews that it got
	list     *listed
	old      *oldItem // nil: it is younger than the bridge
}

// write is one value that an attribute got.
type write struct {
	from, to string
	person   bool // else the bridge
	at       time.Time
	// unanswered: the bridge got no answer to its write.
	unanswered bool
}

// keptTexts is what a conflict's comment holds.
type keptTexts struct {
	marker    string
	attribute mapping.Attribute
	texts     []string
}

var chaosScheme = mapping.LabelScheme{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"}

// look gathers what there is to see; lists: tasks stand for checklists, else for
// sub-issues.
func look(w *bridgetest.World, projects []*planningtest.Project, keys mapping.Keys, lists bool) seen {
	var s seen
	for _, p := range projects {
		s.cards = append(s.cards, lookCards(p, keys, lists)...)
	}
	text := func(v string) string { body, _ := keys.Body(v); return body }
	if lists {
		text = func(v string) string { body, _ := keys.Body(v); return mapping.WithoutItems(body) }
	}
	for _, i := range w.Repo.Issues() {
		issue := lookIssue(w, keys, i, text, chaosScheme)
		if slices.ContainsFunc(s.cards, func(c seenCard) bool { return c.of != "" && joined(&issue, &c) }) {
			issue = lookIssue(w, keys, i, text, hoursScheme)
		}
		if lists {
			issue.list = hubList(w, i)
		}
		s.issues = append(s.issues, issue)
	}
	return s
}

// lookCards gathers the cards of a project, and their tasks.
func lookCards(p *planningtest.Project, keys mapping.Keys, lists bool) (all []seenCard) {
	for _, c := range p.Cards() {
		card := lookCard(p, keys, c)
		if lists {
			card.list = planList(p, keys, c)
		}
		all = append(all, card)
		for _, t := range c.Tasks {
			if !lists && !isTracking(keys, t) {
				all = append(all, lookTask(p, keys, c, t))
			}
		}
	}
	return all
}

func lookIssue(w *bridgetest.World, keys mapping.Keys, i githubtest.IssueState, text func(string) string, scheme mapping.LabelScheme) seenIssue {
	_, marks := keys.Body(i.Body)
	labels := w.Repo.History(i.Number, "labels")
	states, met := hubStates(w.Repo.History(i.Number, "state"), labels)
	out := seenIssue{
		met: met, shows: showingOf(i, labels), parent: i.Parent, leads: slices.Contains(i.Labels, otherName), number: i.Number, id: i.ID, closed: i.State == "closed", working: chaosScheme.InProgressOn(i.Labels), stolen: stolen(labels),
		seenItem: seenItem{
			marks: marks, own: i.Author == bridgetest.Bot,
			now: map[mapping.Attribute]string{
				mapping.Title: i.Title, mapping.Summary: text(i.Body),
				mapping.Estimate: estimates(i.Labels, scheme), mapping.State: stateOf(i.State, i.Labels),
			},
			past: map[mapping.Attribute][]write{
				mapping.Title:    hubWrites(w.Repo.History(i.Number, "title"), func(v string) string { return v }),
				mapping.Summary:  hubWrites(w.Repo.History(i.Number, "body"), text),
				mapping.Estimate: hubWrites(labels, func(v string) string { return estimates(strings.Split(v, ","), scheme) }),
				mapping.State:    states,
			},
		},
	}
	_, all := scheme.EstimateOf(i.Labels, "")
	out.estimates = len(all)
	for _, c := range i.Comments {
		if c.Author == bridgetest.Bot {
			out.comments = append(out.comments, readComment(keys, c.Body))
		}
	}
	return out
}

func lookCard(p *planningtest.Project, keys mapping.Keys, c planningtest.CardState) seenCard {
	summary, marks := keys.Body(c.Summary)
	out := seenCard{
		says: sayingOf(c), reviewed: planWrites(p.History(c.ID, "iterationReview"), func(v string) string { return v }), id: c.ID, project: p.ID(), bucket: c.Bucket,
		seenItem: seenItem{
			marks: marks, own: madeByAPI(p, c.ID), signed: isSigned(p, keys, c.ID), past: planPast(p, keys, c.ID),
			now: map[mapping.Attribute]string{mapping.Title: c.Title, mapping.Summary: summary, mapping.Estimate: number(c.Estimate)},
		},
	}
	for _, t := range c.Tasks {
		states := planWrites(p.History(t.ID, "state"), whole)
		switch {
		case isTracking(keys, t):
			out.tracking++
			out.now[mapping.State], out.past[mapping.State] = t.State, states
		case partnersNamed(keys, planWrites(p.History(t.ID, "summary"), whole))[trackingMark]:
			out.tracked = append(out.tracked, states...)
		}
	}
	return out
}

// planPast is what a card or a task was, but for its state.
func planPast(p *planningtest.Project, keys mapping.Keys, id string) map[mapping.Attribute][]write {
	past := func(attribute string, of func(string) string) []write {
		return planWrites(p.History(id, attribute), of)
	}
	return map[mapping.Attribute][]write{
		mapping.Title:    past("title", func(v string) string { return v }),
		mapping.Summary:  past("summary", func(v string) string { body, _ := keys.Body(v); return body }),
		mapping.Estimate: past("estimate", mapping.CanonicalNumber),
	}
}

func madeByAPI(p *planningtest.Project, id string) bool {
	titles := p.History(id, "title")
	return len(titles) > 0 && titles[0].ByAPI
}

// isSigned reports whether the bridge wrote a marker into a card or a task. A copy has that of the
// original.
func isSigned(p *planningtest.Project, keys mapping.Keys, id string) bool {
	return len(partnersNamed(keys, planWrites(p.History(id, "summary"), whole))) > 0
}

func number(n *float64) string {
	if n == nil {
		return ""
	}
	return formatted(*n)
}

// estimates are the values of all estimate labels, joined by commas.
func estimates(labels []string, scheme mapping.LabelScheme) string {
	_, all := scheme.EstimateOf(labels, "")
	for i, l := range all {
		all[i], _ = scheme.EstimateOf([]string{l}, "")
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}

func stateOf(state string, labels []string) string {
	v, _ := mapping.IssueView(&mapping.Issue{State: state, Labels: labels}, chaosScheme, mapping.Keys{}, nil)
	return v[mapping.State].Value
}

func hubWrites(past []githubtest.Value, of func(string) string) []write {
	var out []write
	from := ""
	for _, v := range past {
		if to := of(v.Value); to != from || len(out) == 0 {
			out = append(out, write{from: from, to: to, person: !v.ByAPI, at: v.Time})
			from = to
		}
	}
	return out
}

func planWrites(past []planningtest.Value, of func(string) string) []write {
	var out []write
	from := ""
	for _, v := range past {
		if to := of(v.Value); to != from || len(out) == 0 {
			out = append(out, write{from: from, to: to, person: !v.ByAPI, at: v.Time})
			from = to
		}
	}
	return out
}

// hubStates joins the histories of open/closed and of the in-progress label. met are the states that
// people's labels gave an issue which the bridge reopened in that moment: it could not see them.
func hubStates(states, labels []githubtest.Value) (past, met []write) {
	all := slices.Concat(states, labels)
	slices.SortFunc(all, func(a, b githubtest.Value) int { return cmp.Compare(a.Order, b.Order) })
	isState := func(v string) bool { return v == "open" || strings.HasPrefix(v, "closed/") }
	var state string
	var on []string
	var label githubtest.Value // which put the label on or took it off
	var views []githubtest.Value
	for _, v := range all {
		if isState(v.Value) {
			state, _, _ = strings.Cut(v.Value, "/")
			if v.ByAPI && state == "open" && !label.ByAPI && v.Time.Sub(label.Time) <= overrunWithin {
				met = append(met, write{to: stateOf(state, on), person: true, at: label.Time})
			}
		} else {
			was := on
			if on = strings.Split(v.Value, ","); chaosScheme.InProgressOn(on) != chaosScheme.InProgressOn(was) {
				label = v
			}
		}
		v.Value = stateOf(state, on)
		views = append(views, v)
	}
	return hubWrites(views, whole), met
}

// stolen lists what the bridge did to labels that are people's.
func stolen(past []githubtest.Value) []string {
	var out []string
	var before []string
	for _, v := range past {
		now := strings.FieldsFunc(v.Value, func(r rune) bool { return r == ',' })
		for _, l := range slices.Concat(without(now, before), without(before, now)) {
			if v.ByAPI && !chaosScheme.Owned(l) && l != chaosScheme.InProgress && l != otherName {
				out = append(out, l)
			}
		}
		before = now
	}
	return out
}

func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

var (
	keptAttribute = regexp.MustCompile(`^\*\*planbridge:\*\* the ([a-z]+) was changed`)
	keptText      = regexp.MustCompile("(?s)```text\n(.*?)\n```")
)

func readComment(keys mapping.Keys, body string) keptTexts {
	var out keptTexts
	text, marks := keys.Body(body)
	if len(marks) > 0 {
		out.marker = string(marks[0].Kind) + "." + marks[0].Partner
	}
	if m := keptAttribute.FindStringSubmatch(text); m != nil {
		out.attribute = mapping.Attribute(m[1])
	}
	for _, m := range keptText.FindAllStringSubmatch(text, -1) {
		out.texts = append(out.texts, m[1])
	}
	return out
}

func issueNumber(n int) string { return bridgetest.RepoName + "#" + strconv.Itoa(n) }
