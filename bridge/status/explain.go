package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// explainData is what the template of an item's page gets.
type explainData struct {
	frame
	Item      string // as it was asked for
	Name      string
	Headline  string // one line: what is with it
	Bad       bool
	Detail    LinkDetail
	IssuePage string
	Values    []valueView
	Questions []question
	History   []historyView
	Parked    string // the key of its failure; "": it has none
}

// valueView is an attribute as it stands on both sides.
type valueView struct {
	Attribute        string
	Agreed           bool // the sides show the same
	OnGitHub, InPlan []stretch
	Version          int64
	Next             *Next // what the next look would do; nil: nothing
}

// historyView is a line of a history.
type historyView struct {
	Entry
	Says string
}

// explainHistory is how much of a history the page shows.
const explainHistory = 100

// explain is the page of one item: one line first, details after.
func (h *handler) explain(w http.ResponseWriter, r *http.Request) {
	item := issueName(strings.TrimSpace(r.FormValue("item")))
	d := explainData{frame: h.frame(item, explainPath(item)), Item: item, Name: item}
	detail, err := h.detail(r.Context(), item)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, ErrName):
		d.Headline, d.Bad = "Nothing is known of it: "+err.Error(), true
		h.render(w, r, http.StatusNotFound, "explain.html", &d)
		return
	case err != nil:
		h.Logger.Warn("answering an operator", "path", r.URL.Path, "err", err)
		h.failPage(w, r, http.StatusInternalServerError, err)
		return
	}
	d.Detail = *detail
	d.Headline, d.Bad = headline(detail, moments{d.Now})
	d.IssuePage = h.issuePage(detail.Link.Issue)
	if o := detail.Outside; o != nil {
		if o.Card == nil {
			d.IssuePage = h.issuePage(&Issue{Repository: o.Repository, Number: o.Number})
		}
		h.render(w, r, http.StatusOK, "explain.html", &d)
		return
	}
	d.Name = detail.Link.Where
	d.Title = d.Name
	d.Values = valuesOf(detail)
	for _, e := range detail.History[:min(explainHistory, len(detail.History))] {
		d.History = append(d.History, historyView{e, historySays(&e)})
	}
	if d.Questions, err = h.questionsOf(r.Context(), detail); err != nil {
		h.Logger.Warn("reading open questions", "link", detail.Link.ID, "err", err)
	}
	if q := detail.Queue; q != nil && q.State == string(store.KeyParked) {
		d.Parked = q.Key
	}
	h.render(w, r, http.StatusOK, "explain.html", &d)
}

// questionsOf are the open questions of a pair and of its parts.
func (h *handler) questionsOf(ctx context.Context, d *LinkDetail) ([]question, error) {
	all, _, err := h.Operator.Questions(ctx, mapping.LinkID(d.Link.ID), fewConflicts)
	return each(all, questionOf), err
}

// valuesOf compares both sides, as they are now or, where they were not read, as they last
// agreed.
func valuesOf(d *LinkDetail) []valueView {
	github, planning := map[string]string{}, map[string]Versioned{}
	for a, b := range d.Base {
		github[a], planning[a] = b.GitHub, Versioned{b.Planning, b.Version}
	}
	next := map[string]*Next{}
	if d.Now != nil {
		maps.Copy(github, d.Now.GitHub)
		maps.Copy(planning, d.Now.Planning)
		for i := range d.Now.Next {
			next[d.Now.Next[i].Attribute] = &d.Now.Next[i]
		}
	}
	var out []valueView
	for _, a := range mapping.Attributes {
		g, onGitHub := github[string(a)]
		p, inPlan := planning[string(a)]
		if !onGitHub && !inPlan {
			continue
		}
		v := valueView{Attribute: plainAttribute(string(a)), Agreed: g == p.Value, Version: p.Version, Next: next[string(a)]}
		v.OnGitHub, v.InPlan = beside(g, p.Value)
		out = append(out, v)
	}
	return out
}

// historySays is a line of a history as a sentence.
func historySays(e *Entry) string {
	words := []string{e.What}
	if e.Attribute != "" {
		words = append(words, plainAttribute(e.Attribute))
	}
	if e.Part != "" {
		words = append(words, "of "+cmp.Or(map[string]string{string(mapping.Checklist): "a line of the checklist", string(mapping.Tracking): "the tracking task"}[e.Part], e.Part))
	}
	if e.Side != "" {
		words = append(words, "on "+sideName(e.Side))
	}
	return strings.Join(words, " ") + took(e.Took)
}

// sideName names a side for people.
func sideName(side string) string {
	if side == string(mapping.GitHub) {
		return "GitHub"
	}
	return side
}

// Headline says in one line what is with an item, with times that do not pass.
func (d *LinkDetail) Headline() string {
	says, _ := headline(d, moments{})
	return says
}

// moments says how far moments lie from now; of the zero one, which moments they are.
type moments struct{ now time.Time }

// ago is a moment that is over.
func (m moments) ago(t time.Time) string {
	if m.now.IsZero() {
		return "at " + t.UTC().Format(time.RFC3339)
	}
	return ago(m.now, t)
}

// since is how long something lasts that began at a moment.
func (m moments) since(t time.Time) string {
	if m.now.IsZero() {
		return "since " + t.UTC().Format(time.RFC3339)
	}
	return "for " + span(m.now.Sub(t))
}

// in is a moment that comes.
func (m moments) in(t time.Time) string {
	if m.now.IsZero() {
		return "at " + t.UTC().Format(time.RFC3339)
	}
	return in(m.now, t)
}

// headline says in one line what is with an item, and whether somebody has to see to it.
func headline(d *LinkDetail, now moments) (says string, bad bool) {
	if o := d.Outside; o != nil {
		if o.Route != "" {
			return "It is not synchronised by route " + o.Route + ": " + o.Why, false
		}
		return "It is not synchronised: " + o.Why, false
	}
	if q := d.Queue; q != nil && q.State == string(store.KeyParked) {
		return fmt.Sprintf("It was given up %s after %s, and waits for a retry or a new change: %s", now.ago(q.At), count(q.Attempts, "attempt", "attempts"), q.Reason), true
	}
	if d.Link.Paused {
		return "Its route is paused: changes are taken and wait until somebody resumes it.", true
	}
	switch mapping.LinkState(d.Link.State) {
	case mapping.Left, mapping.Orphaned, mapping.Dormant, mapping.Erased:
		return fmt.Sprintf("It is not synchronised (%s): %s", d.Link.State, cmp.Or(d.Link.Why, "nothing more is known")), d.Link.State == string(mapping.Orphaned)
	}
	if len(d.Asking) > 0 {
		return fmt.Sprintf("Both sides changed the %s, and somebody has to choose.", some(plainAttributes(d.Asking))), true
	}
	if q := d.Queue; q != nil {
		switch store.KeyState(q.State) {
		case store.KeyWaiting:
			return fmt.Sprintf("It has been waiting for %s %s: %s", q.Service, now.since(q.At), q.Reason), false
		case store.KeyLater:
			return fmt.Sprintf("It is looked at again %s: %s", now.in(q.At), q.Reason), false
		case store.KeyDue:
			return fmt.Sprintf("It has been due and waiting for a free worker %s.", now.since(q.At)), false
		case store.KeyWorked:
			return "It is being worked at this moment.", false
		}
	}
	return restingLine(d, now)
}

// restingLine says what is with a pair that waits for nothing.
func restingLine(d *LinkDetail, now moments) (says string, bad bool) {
	switch mapping.LinkState(d.Link.State) {
	case mapping.Entering:
		return "It was seen, and no partner was made yet.", false
	case mapping.Creating:
		return "Its partner is being made.", false
	}
	for _, a := range attributesOf(d.Refused) {
		return fmt.Sprintf("%s does not take the %s: %s", strings.ToUpper(sideName(d.Refused[a].Side)[:1])+sideName(d.Refused[a].Side)[1:], plainAttribute(a), d.Refused[a].Words), true
	}
	if d.Now != nil && len(d.Now.Unread) > 0 {
		side := slices.Sorted(maps.Keys(d.Now.Unread))[0]
		return fmt.Sprintf("What %s shows now could not be read: %s", sideName(side), d.Now.Unread[side]), false
	}
	if d.Now != nil && len(d.Now.Next) > 0 {
		n := d.Now.Next[0]
		return fmt.Sprintf("The sides differ in the %s; the next look does this: %s, %s", plainAttribute(n.Attribute), n.Action, n.Why), false
	}
	if d.Link.Synced.IsZero() {
		return "Nothing is to be done.", false
	}
	return "Both sides agree; that was last confirmed " + now.ago(d.Link.Synced) + ".", false
}

// attributesOf lists the attributes of a map in the order in which all is shown.
func attributesOf[V any](m map[string]V) []string {
	rank := func(a string) int { return slices.Index(mapping.Attributes, mapping.Attribute(a)) }
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
}

func plainAttributes[V any](m map[string]V) []string {
	out := attributesOf(m)
	for i, a := range out {
		out[i] = plainAttribute(a)
	}
	return out
}

// Partner names the card or the task of a pair.
func (d *explainData) Partner() string {
	switch c := d.Detail.Link.Card; {
	case c == nil:
		return ""
	case c.CID != 0:
		return "card " + strconv.FormatInt(c.CID, 10)
	default:
		return "card " + c.ID
	}
}
