package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

type explainCmd struct {
	output
	Issue string `arg:"" help:"acme/web#12, the address of an issue, the number of an issue or a card (7 or #7), or the id of a card, a task or a link."`
}

// Help is what planbridge explain --help adds.
func (c *explainCmd) Help() string {
	return `The first line says what is with the item. That holds also for an issue or a card that has no partner: which route would take it, and
what keeps it out. Both services are asked for what planbridge does not keep.`
}

// Run implements the command.
func (c *explainCmd) Run(ctx context.Context, p *process) error {
	return with(ctx, p, func(api *client) error {
		var got status.LinkDetail
		if err := api.ask(ctx, http.MethodGet, "/api/v1/links/"+url.PathEscape(c.Issue), nil, &got); err != nil {
			return err
		}
		return c.print(p, got, func() error { return explain(p.stdout, &got) })
	})
}

// explain prints a link from its head to its history. Parts that are empty are
// left out.
func explain(w io.Writer, d *status.LinkDetail) error {
	fmt.Fprintf(w, "%s: %s\n\n", d.Name(), oneLine(d.Headline()))
	if d.Outside != nil {
		return explainOutside(w, d.Outside).flush()
	}
	parts := []func(io.Writer, *status.LinkDetail) *table{explainLink, explainBase, explainNow, explainHidden, explainNext, explainPending, explainBlocked, explainChildren, explainHistory}
	for i, part := range parts {
		t := part(w, d)
		if t == nil {
			continue
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	return nil
}

// explainOutside shows an issue or a card that has no link.
func explainOutside(w io.Writer, o *status.Outside) *table {
	t := newTable(w, "link", "none")
	if c := o.Card; c != nil {
		t.row("card", c.ID)
		t.row("card number", strconv.FormatInt(c.CID, 10))
		t.row("bucket", c.Bucket)
		t.row("project", o.Project)
	} else {
		t.row("issue", o.Name())
	}
	if o.Title != "" {
		t.row("title", brief(o.Title))
	}
	if o.Author != "" {
		t.row("author", o.Author+" ("+strings.ToLower(cmp.Or(o.Association, "unknown"))+")")
	}
	t.row("route", o.Route)
	t.row("why", o.Why)
	return t
}

func explainLink(w io.Writer, d *status.LinkDetail) *table {
	l := d.Link
	issue, card := ends(l)
	t := newTable(w, "link", l.ID)
	t.row("issue", issue)
	t.row("card", card.ID)
	if card.CID != 0 {
		t.row("card number", strconv.FormatInt(card.CID, 10))
	}
	t.row("bucket", card.Bucket)
	t.row("route", l.Route)
	t.row("project", cmp.Or(l.ProjectName, l.Project))
	t.row("state", l.State)
	if l.Why != "" {
		t.row("why", l.Why)
	}
	t.row("made on", l.Origin)
	t.row("linked since", moment(l.Created))
	t.row("agreed at", moment(l.Synced))
	if in := d.Creating; in != nil {
		sent := "not sent yet"
		if in.Sent {
			sent = fmt.Sprintf("sent %s, looked for %s", moment(in.At), mapping.Count(in.Lookups, "time", "times"))
		}
		t.row("creating", "on "+in.Side+": "+sent)
	}
	if d.Queue != nil {
		t.row("queue", describe(d.Queue))
	}
	for _, f := range d.Folding {
		t.row("waiting", "folds frequent edits of "+f.Item+" towards "+f.Side+" until "+moment(f.Until))
	}
	return t
}

func explainBase(w io.Writer, d *status.LinkDetail) *table {
	if len(d.Base) == 0 {
		return nil
	}
	t := newTable(w, "AGREED ON", "VERSION", "GITHUB", "PLANNING")
	for _, a := range attributes(d.Base) {
		b := d.Base[a]
		t.row(a, strconv.FormatInt(b.Version, 10), brief(b.GitHub), brief(b.Planning))
	}
	return t
}

// explainNow shows both sides as they are at this moment.
func explainNow(w io.Writer, d *status.LinkDetail) *table {
	t := newTable(w, "NOW", "VERSION", "GITHUB", "PLANNING")
	if d.NowError != "" {
		t.row("not known", "", d.NowError, "")
		return t
	}
	if d.Now == nil {
		return nil
	}
	for _, side := range []mapping.Side{mapping.GitHub, mapping.Planning} {
		if why, ok := d.Now.Unread[string(side)]; ok {
			t.row("cannot be read", string(side), why, "")
		}
	}
	all := maps.Clone(d.Now.Planning)
	for a := range d.Now.GitHub {
		all[a] = d.Now.Planning[a]
	}
	for _, a := range attributes(all) {
		t.row(a, strconv.FormatInt(all[a].Version, 10), brief(d.Now.GitHub[a]), brief(all[a].Value))
	}
	return t
}

// explainHidden shows the texts with parts that their readers do not see.
func explainHidden(w io.Writer, d *status.LinkDetail) *table {
	if d.Now == nil || len(d.Now.Hidden) == 0 {
		return nil
	}
	t := newTable(w, "HIDDEN TEXT", "SIDE", "WHAT")
	for _, h := range d.Now.Hidden {
		t.row(h.Attribute, h.Side, h.What)
	}
	return t
}

// explainNext shows what the next reconcile would do.
func explainNext(w io.Writer, d *status.LinkDetail) *table {
	if d.Now == nil {
		return nil
	}
	t := newTable(w, "NEXT", "ACTION", "TO GITHUB", "TO PLANNING", "WHY")
	switch {
	case len(d.Now.Gone) > 0:
		t.row("not decided", "", "", "", d.Now.Absence())
	case len(d.Now.Next) == 0 && d.Held() != "":
		t.row("nothing", "", "", "", d.Held())
	case len(d.Now.Next) == 0 && len(d.Now.Unread) > 0:
		t.row("nothing", "", "", "", "the sides agreed when both were read last")
	case len(d.Now.Next) == 0:
		t.row("nothing", "", "", "", "the sides agree")
	}
	for _, n := range d.Now.Next {
		t.row(n.Attribute, n.Action, sent(n.ToGitHub), sent(n.ToPlanning), n.Why)
	}
	return t
}

// sent is a value that would be written; nil: nothing would be.
func sent(value *string) string {
	if value == nil {
		return ""
	}
	return brief(*value)
}

func explainPending(w io.Writer, d *status.LinkDetail) *table {
	if len(d.Pending) == 0 {
		return nil
	}
	t := newTable(w, "PENDING", "SIDE", "SINCE", "ANSWERED", "FROM", "TO")
	for _, p := range d.Pending {
		t.row(p.Attribute, p.Side, moment(p.At), strconv.FormatBool(p.Answered), brief(p.From), brief(p.To))
	}
	return t
}

// explainBlocked shows the obstacles of single attributes.
func explainBlocked(w io.Writer, d *status.LinkDetail) *table {
	if len(d.Refused)+len(d.Asking) == 0 {
		return nil
	}
	t := newTable(w, "BLOCKED", "BY", "WORDS")
	for _, a := range attributes(d.Refused) {
		t.row(a, d.Refused[a].Side, d.Refused[a].Words)
	}
	for _, a := range attributes(d.Asking) {
		t.row(a, "conflict", d.Asking[a])
	}
	return t
}

func explainChildren(w io.Writer, d *status.LinkDetail) *table {
	if len(d.Children) == 0 {
		return nil
	}
	t := newTable(w, "TASK", "KIND", "STATE", "OF", "AGREED ON")
	for _, c := range d.Children {
		of := cmp.Or(c.Issue.Name(), c.Item)
		var agreed []string
		for _, a := range attributes(c.Base) {
			if mapping.Attribute(a).Spec().Form != mapping.FormMarkdown && c.Base[a].GitHub != "" {
				agreed = append(agreed, a+" "+brief(c.Base[a].GitHub))
			}
		}
		t.row(c.Task, c.Kind, c.State, brief(of), cmp.Or(c.Why, c.Left(), strings.Join(agreed, ", ")))
	}
	return t
}

func explainHistory(w io.Writer, d *status.LinkDetail) *table {
	if len(d.History) == 0 {
		return nil
	}
	t := newTable(w, "AT", "WHAT", "ATTRIBUTE", "SIDE", "WHY", "DELIVERY")
	for _, e := range d.History {
		why := e.Why
		if strings.Contains(e.Part, "#") { // a sub-issue; entries of other parts name their part
			why = e.Part + ": " + why
		}
		t.row(moment(e.At), e.What, e.Attribute, e.Side, why, e.Delivery)
	}
	return t
}

// attributes lists a map's keys in the order in which everything shows them.
func attributes[V any](m map[string]V) []string {
	rank := func(a string) int { return slices.Index(mapping.Attributes, mapping.Attribute(a)) }
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
}
