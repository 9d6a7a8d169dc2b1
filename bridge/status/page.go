package status

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// These bound the content of the page.
const (
	pageConflicts  = 10
	pageQuestions  = 10
	pageGroups     = 20
	pageProblems   = 5 // failures by reason, and faults of the configuration
	pageActivities = 20
	pageReason     = 200 // characters of a reason
	pageName       = 80  // characters of a name in a sentence
)

// refreshEvery is how often the page reloads its content, in seconds.
const refreshEvery = 10

// pageData is the data of the status page's template.
type pageData struct {
	frame
	Problems      []problem
	Unread        []problem // parts that cannot be shown, and why
	Configuration []Fault   // its parts that do not work
	Questions     []question
	MoreQuestions int
	Failures      []group
	MoreFailures  int // groups
	Waits         []group
	Failing       []group // of those, keys that are tried again after a failure
	MoreWaits     int
	WaitsBounded  bool  // there may be more
	waiting       []row // all of them
	Activities    []said
	Services      []ServiceHealth
	Budgets       []Budget
	Projects      []Project
	Look, Rest    []routeView // routes
	Census        taken       // of the links
	Drift         map[string]int
	Conflicts     []question // the newest entries that are no questions
	Sprints       []chart
}

// frame is the common data of all pages.
type frame struct {
	Title   string
	Version string
	Now     time.Time
	Refresh int    // seconds; 0: the page does not refresh itself
	Here    string // the page after an act
	Query   string // the searched words
}

func (h *handler) frame(title, here string) frame {
	return frame{Title: title, Version: h.Version, Now: h.Clock.Now(), Here: here}
}

// page is the status page. It reports what cannot be read, and shows everything else.
func (h *handler) page(w http.ResponseWriter, r *http.Request) {
	d := h.gather(r.Context())
	status := http.StatusOK
	if len(d.Unread) > 0 {
		status = http.StatusServiceUnavailable
	}
	h.render(w, r, status, "page.html", d)
}

// gather reads everything that the page shows.
func (h *handler) gather(ctx context.Context) *pageData {
	d := &pageData{frame: h.frame("planbridge", "/")}
	d.Refresh = refreshEvery
	told := false
	note := func(err error) {
		says := storeTrouble(err)
		if err == nil || says != "" && told {
			return // one fact for all reads
		}
		told = told || says != ""
		d.Unread = append(d.Unread, problem{true, says + err.Error(), ""})
	}
	note(h.Readiness.Ready(ctx))
	overview, err := h.collectOverview(ctx)
	note(err)
	d.Census, err = h.census(ctx, overview.Routes)
	note(err)
	d.Projects = overview.Projects
	for i := range d.Projects {
		d.Projects[i].Waiting = h.inWords(d.Projects[i].Waiting)
	}
	waiting, err := h.waiting(ctx)
	note(err)
	failed, err := h.failed(ctx)
	note(err)
	asks, err := h.gatherConflicts(ctx, d)
	note(err)
	sprints, err := h.Operator.Burndowns(ctx)
	note(err)
	health, err := h.Monitor.Health(ctx)
	note(err)
	recent, err := h.Monitor.Recent(ctx, manyActivities)
	note(err)

	d.waiting = waiting
	d.Waits, d.MoreWaits = atMost(grouped(waiting), pageGroups)
	d.Failing = grouped(failing(waiting))
	d.WaitsBounded = len(waiting) == manyKeys
	d.Failures, d.MoreFailures = atMost(grouped(failed), pageGroups)
	d.Activities = each(toldActivities(recent), sentence)
	d.Services, d.Budgets = inTroubleFirst(health.Services, d.Now), health.Budgets
	d.Configuration, d.Drift = health.Configuration, health.Drift
	d.Sprints = charts(burndownsOf(sprints, d.Now), d.Now)
	d.Look, d.Rest = routesView(overview.Routes, routeCounts{byRoute(failed), byRoute(waiting), byRoute(d.stuck()), asks})
	d.Problems = d.problems()
	return d
}

// storeTrouble begins the sentence on a store that cannot be used; "": the error is another one.
func storeTrouble(err error) string {
	switch {
	case errors.Is(err, store.ErrAway):
		return "The store does not answer, and nothing is synchronised until it does: "
	case errors.Is(err, store.ErrNoRoom):
		return "The store takes no writes, and nothing is synchronised until it does: "
	}
	return ""
}

// toldActivities are the last activities except labels, which only follow others.
func toldActivities(recent []Activity) []Activity {
	var out []Activity
	for i := range recent {
		if a := &recent[i]; len(out) < pageActivities && (a.What != "show" || a.Attribute != "labels") {
			out = append(out, *a)
		}
	}
	return out
}

// inWords names in words the services that keys wait for. Several services of one kind are one
// entry.
func (h *handler) inWords(waiting map[string]int) map[string]int {
	alike, out := map[string]int{}, map[string]int{}
	for service := range waiting {
		alike[h.Operator.SharedServiceWords(service)]++
	}
	for service, n := range waiting {
		words := h.Operator.SharedServiceWords(service)
		if words == "" || alike[words] == 1 {
			words = h.Operator.ServiceWords(service)
		}
		out[words] += n
	}
	return out
}

// gatherConflicts reads the open questions, and returns how many each route has. It also reads the
// newest other entries of the ledger.
func (h *handler) gatherConflicts(ctx context.Context, d *pageData) (map[string]int, error) {
	open, asks, err := h.Operator.Questions(ctx, "", pageQuestions)
	if err != nil {
		return nil, err
	}
	d.Questions = each(open, questionOf)
	d.MoreQuestions = -len(open)
	for _, n := range asks {
		d.MoreQuestions += n
	}
	all, err := h.Operator.Conflicts(ctx, fewConflicts)
	for i := range all {
		if c := &all[i]; c.State != mapping.ConflictOpen && len(d.Conflicts) < pageConflicts {
			q := questionOf(c)
			q.CanUndo = q.CanUndo && h.isJoined(ctx, c.Link)
			d.Conflicts = append(d.Conflicts, q)
		}
	}
	return asks, err
}

// isJoined reports whether a pair is known and not parted. Nothing of a parted pair can be
// undone.
func (h *handler) isJoined(ctx context.Context, link mapping.LinkID) bool {
	l, err := h.Operator.Find(ctx, string(link))
	return err == nil && !l.Parted
}

// waiting lists the keys that wait for a service or for a time.
func (h *handler) waiting(ctx context.Context) ([]row, error) {
	all, err := h.Operator.Standings(ctx, manyKeys)
	out := make([]row, 0, len(all))
	for i := range all {
		s := h.standingOf(&all[i])
		out = append(out, row{
			Where: s.Where, Link: linkOfKey(s.Key), Route: s.Route, Reason: cmp.Or(s.Reason, stateWords(s.State)), Attempts: s.Attempts, At: s.At, State: s.State,
			Service: s.Service, WaitsFor: s.WaitsFor, SharedWait: h.Operator.SharedServiceWords(s.Service),
			Failing: s.State != string(mapping.Dormant) && h.Operator.Failing(&all[i]),
		})
	}
	return out, err
}

// stateWords describes the state of a key that has no reason.
func stateWords(state string) string {
	if store.KeyState(state) == store.KeyWorked {
		return "being worked"
	}
	return state
}

// WaitCount is how many keys wait and are not being worked.
func (d *pageData) WaitCount() (n int) {
	for i := range d.waiting {
		if s := store.KeyState(d.waiting[i].State); s == store.KeyWaiting || s == store.KeyLater {
			n++
		}
	}
	return n
}

// failing are those of the keys that wait for another attempt after a failure, by its error.
func failing(waiting []row) (out []row) {
	for _, r := range waiting {
		if r.WaitsFor, r.SharedWait = "", ""; r.Failing {
			out = append(out, r)
		}
	}
	return out
}

// failed lists the keys that were given up, the oldest first.
func (h *handler) failed(ctx context.Context) ([]row, error) {
	all, err := h.Operator.Failures(ctx)
	out := make([]row, 0, len(all))
	for i := range all {
		f := failureOf(&all[i])
		r := row{Key: f.Key, Where: f.Where, Route: f.Route, Reason: f.Reason, Attempts: f.Attempts, At: f.At}
		if f.Route != "" { // else it is no pair, but an item that was set aside
			r.Link = linkOfKey(f.Key)
		}
		out = append(out, r)
	}
	return out, err
}

// atMost cuts a list, and returns how many elements it drops.
func atMost[T any](list []T, most int) ([]T, int) {
	n := min(most, len(list))
	return list[:n], len(list) - n
}

// inTroubleFirst sorts services: first those that cannot be used, then those with another
// problem.
func inTroubleFirst(all []ServiceHealth, now time.Time) []ServiceHealth {
	all = slices.Clone(all)
	trouble := func(s *ServiceHealth) int {
		if s.State == ServiceDown || s.State == ServiceRefused {
			return -2
		}
		return -min(1, len(s.problems(now, 0)))
	}
	slices.SortStableFunc(all, func(a, b ServiceHealth) int { return cmp.Compare(trouble(&a), trouble(&b)) })
	return all
}

// render writes a page.
func (h *handler) render(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	var body bytes.Buffer
	if err := pages.ExecuteTemplate(&body, name, data); err != nil {
		h.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w) // a caller who has left needs no answer
}
