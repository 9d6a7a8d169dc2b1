package status

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
)

// group is the keys with one reason.
type group struct {
	ID     string // of the reason, for forms and addresses
	Reason string // the shared part of their reasons
	// WaitsFor names in words the service that all of them wait for; "": they wait for a time, or
	// for nothing.
	WaitsFor string
	Count    int
	Routes   []string  // some of them, sorted
	More     int       // further routes
	First    time.Time // the earliest
	Last     time.Time // the latest
	Rows     []row     // those that are shown
}

// Hidden is how many of a group are not shown.
func (g *group) Hidden() int { return g.Count - len(g.Rows) }

// row is a key of a list: a failed one, or a waiting one.
type row struct {
	Key      string // of a failure, to be retried
	Where    string
	Link     string // the item for explain; "": it is no pair
	Route    string
	Reason   string
	Attempts int
	At       time.Time
	State    string // of a key in the queue
	Service  string // that it waits for
	WaitsFor string // the same in words
	// SharedWait is WaitsFor for all services of the kind; "": the kind has one service.
	SharedWait string
	Failing    bool // it is tried again after a failure
}

// shared is the part of a row's reason that other rows have, too. All keys that wait for one
// service have one reason.
func (r *row) shared() string {
	if words := cmp.Or(r.SharedWait, r.WaitsFor); words != "" {
		return "waits for " + words
	}
	return sharedReason(r.Reason)
}

// group is the id of the group that a row is of.
func (r *row) group() string {
	if r.SharedWait != "" {
		return reasonID(r.shared(), "")
	}
	return reasonID(r.shared(), r.Service)
}

// Waits completes the sentence that begins with the number of items in the group.
func (g *group) Waits() string {
	switch {
	case g.WaitsFor == "":
		return ": " + cut(pageReason, g.Reason)
	case g.Count == 1:
		return " waits for " + g.WaitsFor + ": " + cut(pageReason, g.Reason)
	}
	return " wait for " + g.WaitsFor
}

// These bound the shown part of a group.
const (
	groupRows   = 5
	groupRoutes = 3
)

// grouped groups rows by their reasons, the largest group first.
func grouped(rows []row) []group {
	byID, routes := map[string]*group{}, map[string]map[string]bool{}
	var order []*group
	for _, r := range rows {
		shared, id := r.shared(), r.group()
		g := byID[id]
		if g == nil {
			g = &group{ID: id, Reason: shared, WaitsFor: r.WaitsFor, First: r.At, Last: r.At}
			byID[id], routes[id] = g, map[string]bool{}
			order = append(order, g)
		} else if r.Service != g.Rows[0].Service {
			g.WaitsFor = r.SharedWait
		}
		g.Count++
		if r.At.Before(g.First) {
			g.First = r.At
		}
		if r.At.After(g.Last) {
			g.Last = r.At
		}
		if r.Route != "" {
			routes[id][r.Route] = true
		}
		if len(g.Rows) < groupRows {
			g.Rows = append(g.Rows, r)
		}
	}
	slices.SortStableFunc(order, func(a, b *group) int { return cmp.Compare(b.Count, a.Count) })
	out := make([]group, len(order))
	for i, g := range order {
		if g.Count == 1 {
			g.Reason = g.Rows[0].Reason // the full reason fits
		} else if g.WaitsFor != "" {
			g.Reason = "waits for " + g.WaitsFor
		}
		for route := range routes[g.ID] {
			g.Routes = append(g.Routes, route)
		}
		slices.Sort(g.Routes)
		g.More = max(0, len(g.Routes)-groupRoutes)
		g.Routes = g.Routes[:len(g.Routes)-g.More]
		out[i] = *g
	}
	return out
}

// maxReason bounds the compared part of a reason, in bytes.
const maxReason = 500

// sharedReason is a reason without the parts that name one item. These are quoted texts, and words
// with a digit or a slash, such as numbers, times, ids, addresses and names.
func sharedReason(reason string) string {
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "")
	}
	var out strings.Builder
	for len(reason) > 0 {
		if quoted, ok := quotedPrefix(reason); ok {
			out.WriteString("…")
			reason = reason[quoted:]
			continue
		}
		end := strings.IndexAny(reason[1:], " \t\n\"") + 1
		if end == 0 {
			end = len(reason)
		}
		out.WriteString(sharedWord(reason[:end]))
		reason = reason[end:]
	}
	return cut(pageReason, out.String()) // the visible text decides
}

// quotedPrefix is the length of the quoted text that a text begins with.
func quotedPrefix(text string) (length int, ok bool) {
	if text[0] != '"' {
		return 0, false
	}
	end := strings.IndexByte(text[1:], '"')
	return end + 2, end >= 0
}

// sharedWord replaces the part of a word that names one item by dots, and keeps the
// punctuation around it.
func sharedWord(word string) string {
	const about = " \t\n:;,.()[]{}<>'`"
	core := strings.Trim(word, about)
	particular := strings.ContainsAny(core, "0123456789/") && !isHTTPStatus(core)
	if !particular {
		return word
	}
	before, after, _ := strings.Cut(word, core)
	return before + "…" + after
}

// isHTTPStatus reports whether a word is the status of a failed HTTP request, which reasons
// share.
func isHTTPStatus(word string) bool {
	n, err := strconv.Atoi(word)
	return err == nil && n >= 400 && n < 600
}

func reasonID(shared, service string) string {
	sum := fnv.New64a()
	_, _ = fmt.Fprintf(sum, "%s\x00%s", shared, service) // a hash takes everything
	return fmt.Sprintf("%016x", sum.Sum64())
}
