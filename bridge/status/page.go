package status

import (
	"bytes"
	_ "embed" // the page and its style sheet
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS []byte

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
		"ago": ago, "in": in,
		"text":   func(s string) string { return cut(pageText, s) },
		"reason": func(s string) string { return cut(pageReason, s) },
	}).Parse(pageHTML))
)

// How much the page shows.
const (
	pageConflicts = 10
	pageFailures  = 50
	pageText      = 1000 // characters of a conflict's value
	pageReason    = 200  // characters of why a key waits
)

// pageData is what the template gets.
type pageData struct {
	Overview
	States       []mapping.LinkState // the columns of the routes
	Waits        []Standing
	Failures     []Failure
	MoreFailures int
	Conflicts    []Conflict
	Sprints      []Burndown
	Problems     []string // what cannot be shown, and why
	Now          time.Time
}

// page is the status page: one look at everything, without a script. What
// cannot be read is said on it, and the rest is shown all the same.
func (h *handler) page(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	d := pageData{States: mapping.LinkStates, Now: time.Now()}
	problem := func(err error) {
		if err != nil {
			d.Problems = append(d.Problems, err.Error())
		}
	}
	problem(h.Ready(ctx))
	var err error
	d.Overview, err = h.look(ctx)
	problem(err)
	waits, err := h.Operator.Standings(ctx, fewKeys)
	problem(err)
	d.Waits = each(waits, h.standingOf)
	failures, err := h.Operator.Failures(ctx)
	problem(err)
	d.MoreFailures = max(0, len(failures)-pageFailures)
	d.Failures = each(failures[:len(failures)-d.MoreFailures], failureOf)
	conflicts, err := h.Operator.Conflicts(ctx, pageConflicts)
	problem(err)
	d.Conflicts = each(conflicts, conflictOf)
	charts, err := h.Operator.Burndowns(ctx)
	problem(err)
	d.Sprints = active(burndownsOf(charts, d.Now))

	var body bytes.Buffer
	if err := pageTemplate.Execute(&body, d); err != nil {
		h.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if len(d.Problems) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = body.WriteTo(w) // a caller who has left needs no answer
}

func style(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write(styleCSS)
}

// retryForm is the page's button. A failure that somebody else took up
// meanwhile is no error there.
func (h *handler) retryForm(w http.ResponseWriter, r *http.Request) {
	key := r.PostFormValue("key")
	if key == "" {
		writeError(w, http.StatusBadRequest, errors.New("the form names no failure"))
		return
	}
	if _, err := h.take(r.Context(), key); err != nil && !errors.Is(err, store.ErrNotFound) {
		h.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// ago says how long a moment has been past.
func ago(now, t time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "–"
	case d < time.Second:
		return "now"
	default:
		return span(d) + " ago"
	}
}

// in says how long it is until a moment.
func in(now, t time.Time) string {
	if d := t.Sub(now); d >= time.Second {
		return "in " + span(d)
	}
	return "now"
}

// span rounds a duration down to its largest unit.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h"
	default:
		return strconv.Itoa(int(d.Hours()/24)) + " days"
	}
}

// cut shortens a text to so many characters.
func cut(most int, s string) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
