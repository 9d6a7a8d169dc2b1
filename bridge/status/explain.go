package status

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// explainData is the data of the template of an item's page.
type explainData struct {
	frame
	Item      string // as it was asked for
	Name      string
	Headline  string // one line about its state
	Bad       bool
	Detail    LinkDetail
	IssuePage string
	CardPage  string
	Values    []valueView
	Questions []question
	History   []historyView
	Parked    string // the key of its failure; "": it has none
}

// valueView is an attribute on both sides.
type valueView struct {
	Attribute        string
	Agreed           bool // the sides show the same
	OnGitHub, InPlan []stretch
	Version          int64
	Next             *Next // the next write; nil: none
}

// historyView is a line of a history.
type historyView struct {
	Entry
	Says string
}

// explainHistory bounds the shown part of a history.
const explainHistory = 100

// explain is the page of one item: one line first, then details.
func (h *handler) explain(w http.ResponseWriter, r *http.Request) {
	named, _ := ParseItem(r.FormValue("item")) // detail reports its error
	item := named.Name
	d := explainData{frame: h.frame(item, explainPath(item)), Item: item, Name: item}
	detail, err := h.detail(r.Context(), item)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, ErrName):
		if d.Headline, d.Bad = err.Error(), true; errors.Is(err, store.ErrNotFound) {
			d.Headline = "Nothing is known of it: " + d.Headline
		}
		h.render(w, r, http.StatusNotFound, "explain.html", &d)
		return
	case errors.Is(err, ErrAway):
		d.Headline, d.Bad = err.Error(), true
		h.render(w, r, http.StatusBadGateway, "explain.html", &d)
		return
	case err != nil:
		h.Logger.Warn("answering an operator", "path", r.URL.Path, "err", err)
		h.failPage(w, r, http.StatusInternalServerError, err)
		return
	}
	d.Detail = *detail
	d.Headline, d.Bad = headline(detail, moments{d.Now})
	d.IssuePage, d.CardPage = h.issuePage(detail.Link.Issue), h.cardPage(detail.Link.Project, detail.Link.Card)
	if o := detail.Outside; o != nil {
		if o.Card == nil {
			d.IssuePage = h.issuePage(&Issue{Repository: o.Repository, Number: o.Number})
		}
		h.render(w, r, http.StatusOK, "explain.html", &d)
		return
	}
	d.Name = detail.Name()
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

// valuesOf compares the current values of both sides. The base stands for a side that was not
// read.
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

// attributesOf lists the attributes of a map in the order in which they are shown.
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
