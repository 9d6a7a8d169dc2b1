package randomtest_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
)

// complaint is one thing that is wrong with a world.
type complaint struct {
	issue int    // 0: none is concerned
	card  string // "": none is concerned
	what  string
}

func (c complaint) String() string {
	return fmt.Sprintf("issue %d, card %q: %s", c.issue, c.card, c.what)
}

// judge says what is wrong with a world that has come to rest:
//
//   - every issue that is open and every card of the route's bucket has
//     exactly one partner, and every linked card one tracking task; a
//     sub-issue's partner may be a task on the card of its parent. What is
//     older than the bridge has one where it was touched or imported, else none;
//   - every line of a checklist has one task, where tasks stand for those;
//   - partners agree in every attribute;
//   - nothing is said twice on an issue, and no label of people was touched;
//   - the right side won each conflict (see chaos_winner_test.go);
//   - every value that a person ever wrote is on a side, or in a conflict's
//     comment, or was replaced by a person who saw it;
//   - the bridge never gave a card a title or an estimate that it had before:
//     people write none twice.
func judge(s seen) []complaint {
	j := &judging{forgotten: s.forgotten, decides: s.decides, way: s.way, former: map[string]bool{}}
	j.spared(s)
	j.bare(s)
	partners := map[int]*seenCard{}
	for i := range s.issues {
		if c := j.partner(s, &s.issues[i]); c != nil {
			partners[s.issues[i].number] = c
		}
		j.issue(&s.issues[i])
	}
	for _, n := range slices.Sorted(maps.Keys(partners)) {
		j.moves(s, &s.issues[slices.IndexFunc(s.issues, func(i seenIssue) bool { return i.number == n })], partners[n])
	}
	j.alone(s, partners)
	for i := range s.cards {
		j.card(s, partners, &s.cards[i])
	}
	for _, n := range slices.Sorted(maps.Keys(partners)) {
		at := slices.IndexFunc(s.issues, func(i seenIssue) bool { return i.number == n })
		j.overruled(s, &s.issues[at])
		j.apart, j.brought = s.isApart(&s.issues[at]) || s.isApartCard(partners[n]) || s.takenElsewhere(partners[n]), s.broughtBack(n)
		j.family(s, partners, &s.issues[at], partners[n])
		j.pair(&s.issues[at], partners[n])
		j.winners(s, &s.issues[at], partners[n])
		j.list(&s.issues[at], partners[n])
		j.undoes(s, &s.issues[at], partners[n])
	}
	return j.complaints
}

type judging struct {
	complaints []complaint
	forgotten  bool
	decides    bool
	way        mapping.Direction
	// apart says that the pair stays unlinked.
	apart   bool
	brought map[mapping.Attribute][]string // the pair's values that an undo wrote back
	former  map[string]bool                // the cards that issues had before they moved
}

func (j *judging) complain(i *seenIssue, c *seenCard, format string, args ...any) {
	var out complaint
	if i != nil {
		out.issue = i.number
	}
	if c != nil {
		out.card = c.id
	}
	if c != nil && c.of != "" {
		out.card, format = c.of, "task "+c.id+": "+format
	}
	out.what = fmt.Sprintf(format, args...)
	j.complaints = append(j.complaints, out)
}

// partner finds the card of an issue by the marker that one of them carries.
func (j *judging) partner(s seen, i *seenIssue) *seenCard {
	var found []*seenCard
	for n := range s.cards {
		if c := &s.cards[n]; joined(i, c) {
			found = append(found, c)
		}
	}
	found = s.living(i, found)
	must, may := s.enters(i)
	must = must && !s.forgotten // a card without a partner then may be older than the bridge
	if len(found) > 0 && !may {
		j.complain(i, found[0], "it has a card, though nobody touched it since the bridge began to run, and no import was to take it")
	}
	switch {
	case len(found) == 1:
		j.twins(s, i, found[0])
		return found[0]
	case len(found) > 1:
		for _, c := range found {
			j.complain(i, c, "one of %d cards of this issue", len(found))
		}
	case must:
		j.complain(i, nil, "no card")
	}
	return nil
}

// joined reports whether the item that the bridge made names the other one.
func joined(i *seenIssue, c *seenCard) bool {
	named := func(marks []mapping.Marker, kind mapping.MarkerKind, partner string) bool {
		return slices.ContainsFunc(marks, func(m mapping.Marker) bool { return m.Kind == kind && m.Partner == partner })
	}
	hub, planning := mapping.MarkIssue, mapping.MarkCard
	if c.of != "" {
		hub, planning = mapping.MarkSubIssue, mapping.MarkTask
	}
	return (i.own || i.old != nil) && named(i.marks, hub, c.id) ||
		(c.own || c.old != nil || i.own && c.signed) && named(c.marks, planning, strconv.FormatInt(i.id, 10)) // a copied card of a person gets one
}

func (j *judging) issue(i *seenIssue) {
	if len(i.stolen) > 0 {
		j.complain(i, nil, "the bridge changed people's labels: %v", i.stolen)
	}
	if len(i.marks) > 1 {
		j.complain(i, nil, "%d markers", len(i.marks))
	}
	marker, said := map[string]bool{}, map[string]bool{}
	for _, c := range i.comments {
		if c.marker == "" || marker[c.marker] {
			j.complain(i, nil, "doubled comment, marker %q", c.marker)
		}
		marker[c.marker] = true
		// A state is one of three words: the same two can meet again.
		if text := fmt.Sprintf("%s %q", c.attribute, c.texts); c.attribute != mapping.State {
			if said[text] {
				j.complain(i, nil, "doubled comment: %s", text)
			}
			said[text] = true
		}
	}
}

func (j *judging) card(s seen, partners map[int]*seenCard, c *seenCard) {
	if j.former[c.id] || j.former[c.of] {
		return
	}
	var issues []int
	for n, p := range partners {
		if p.id == c.id {
			issues = append(issues, n)
		}
	}
	if len(c.marks) > 1 {
		j.complain(nil, c, "%d markers", len(c.marks))
	}
	must, may := s.entersCard(c)
	must = must && !s.forgotten
	switch {
	case len(issues) > 0 && !may:
		j.complain(nil, c, "it belongs to the issues %v, though no import was to take it", issues)
	case len(issues) > 1:
		j.complain(nil, c, "it belongs to the issues %v", issues)
	case len(issues) == 0 && must:
		j.complain(nil, c, "no issue")
	case len(issues) == 1 && c.of == "" && !s.isApartCard(c) && !s.others[c.id] && c.tracking != j.trackings():
		j.complain(nil, c, "%d tracking tasks", c.tracking)
	}
}

func (j *judging) pair(i *seenIssue, c *seenCard) {
	if i.estimates > 1 && !j.apart && j.way != mapping.ToPlanning {
		j.complain(i, c, "%d estimate labels", i.estimates)
	}
	for _, a := range mapping.Attributes {
		g, p := i.now[a], c.now[a]
		if a == mapping.Summary {
			g, p = plainBullets(g), plainBullets(p)
			if i.list != nil {
				g, p = ink(g), ink(p) // a list takes the blank lines behind it along
			}
		}
		if !mapping.Equal(a, g, p) && !j.apart && !j.stays(a, i, c) && !refuses(a, g) {
			j.complain(i, c, "the %s differs:\nGitHub:   %q\nplanning: %q", a, g, p)
		}
		j.lost(a, i, c, i.past[a], c.everWas(a))
		j.lost(a, i, c, c.past[a], i.past[a])
	}
	j.shown(i, c)
	j.staff(i, c)
	j.review(i, c)
	if !j.forgotten {
		j.takenBack(mapping.Title, i, c)
		j.takenBack(mapping.Estimate, i, c)
	}
}

// takenBack complains of writes of the bridge that took back a person's text on a card. A program
// does so that takes an old value for a new one.
func (j *judging) takenBack(a mapping.Attribute, i *seenIssue, c *seenCard) {
	lagged := false
	for n, w := range c.past[a] {
		// An issue's earlier value of the same second may come again from a read that lags:
		// GitHub's times have whole seconds. The issue still has it, and the bridge's next write
		// brings it back.
		healed := lagged && w.to == c.past[a][n-2].to
		lagged = n > 0 && !c.past[a][n-1].person && (w.at.Sub(c.past[a][n-1].at) < time.Second || oneSecond(i.past[a], c.past[a][n-1].to, w.to))
		// Where it cannot be told whose value stood there, a conflict decides, and keeps it.
		decided := j.decides && slices.ContainsFunc(slices.Concat(i.comments, i.ledgered), func(k keptTexts) bool { return k.attribute == a && slices.Contains(k.texts, w.from) })
		if !w.person && !lagged && !healed && !decided && slices.ContainsFunc(c.past[a][:n], func(o write) bool { return o.to == w.to }) {
			j.complain(i, c, "the bridge took back the %s: %q became %q again (%s)", a, w.from, w.to, w.at.Format(time.TimeOnly))
		}
	}
}

// oneSecond reports whether two values were written in one second.
func oneSecond(past []write, one, other string) bool {
	return slices.ContainsFunc(past, func(w write) bool {
		return w.to == one && slices.ContainsFunc(past, func(o write) bool {
			return o.to == other && o.at.Truncate(time.Second).Equal(w.at.Truncate(time.Second))
		})
	})
}

// lost complains of what people wrote on one side and is nowhere.
func (j *judging) lost(a mapping.Attribute, i *seenIssue, c *seenCard, past, other []write) {
	unsure := false // the bridge's last write so far got no answer
	for n, w := range past {
		if !w.person {
			unsure = w.unanswered
		}
		if j.forgotten && (a == mapping.State || a == mapping.Estimate) {
			continue // no history tells what they were
		}
		if j.forgotten && j.way == mapping.ToPlanning {
			continue // nothing but the ledger kept what was overruled, and that was lost with the store
		}
		if a == mapping.State && len(c.earlier) > 0 {
			continue // the tracking task of a card that it had before is a task as others
		}
		if j.apart && n+1 < len(past) && !past[n+1].person {
			continue // a write ran over it just before the unlink: it is merged back once the pair is linked again
		}
		if a == mapping.Estimate && w.from != "" && (len(other) > 0 && w.at.Before(other[0].at) || i.old != nil && slices.Contains(i.past[a], w)) {
			continue // of two labels on what was no pair yet nothing tells which is the later one
		}
		if a == mapping.Estimate && i.crossed && slices.Contains(i.past[a], w) && w.at.Before(c.past[mapping.Title][0].at) {
			continue // a transfer took the label off before the issue had a card
		}
		what := contributed(a, w)
		if unsure {
			what.removed = nil // nothing tells whether it was made from that write, so that this may come again
		}
		if w.person && !kept(what, w, i, c) && !undone(past[:n], other, w) && !(a == mapping.State && overrun(i, c, w)) {
			j.complain(i, c, "lost %s: a person changed %q\nto %q (%s)", a, w.from, w.to, w.at.Format(time.TimeOnly))
		}
	}
}

// undone reports whether people took back their own edits, so that a side is as it was before them.
// To an observer who read nothing meanwhile, nothing has changed.
func undone(before, other []write, w write) bool {
	first := w // of those edits
	for _, b := range slices.Backward(before) {
		if b.to == w.to {
			since := first.at.Truncate(time.Second)
			return !slices.ContainsFunc(other, func(o write) bool {
				return !o.person && o.to != w.to && !o.at.Before(since) && !o.at.After(w.at)
			})
		}
		if !b.person {
			return false
		}
		first = b
	}
	return false
}

// kept reports whether a person's contribution by a write is still there, or was kept in a comment.
// It also counts as kept where somebody who saw it replaced it.
func kept(what contribution, w write, i *seenIssue, c *seenCard) bool {
	a := what.attribute
	if what.in(i.now[a]) || what.in(c.now[a]) {
		return true
	}
	if a == mapping.State && w.to == mapping.StateInProgress && i.working {
		return true // a closed issue can have the label that a person put on it
	}
	for _, k := range slices.Concat(i.comments, i.ledgered) {
		if k.attribute == a && slices.ContainsFunc(k.texts, what.in) {
			return true
		}
	}
	others := c.everWas(a)
	if a == mapping.State {
		others = slices.Concat(others, c.reviews(i), i.met)
	}
	for _, later := range slices.Concat(i.past[a], others) {
		// GitHub stamps whole seconds; and a value that was there again before a person wrote it
		// can only be a state. A person who sets a state means it, whatever the state before.
		saw := what.in(later.from) || a == mapping.State
		if later.person && !later.at.Before(w.at.Truncate(time.Second)) && saw && !what.in(later.made(a)) {
			return true
		}
	}
	return false
}

// made is what stands for a write's result: a person who adds an estimate label beside another one
// means the new one.
func (w write) made(a mapping.Attribute) string {
	if a != mapping.Estimate {
		return w.to
	}
	if added := without(strings.Split(w.to, ","), strings.Split(w.from, ",")); len(added) > 0 {
		return strings.Join(added, ",")
	}
	return w.to
}

// contribution is what a write added and removed, in parts: lines of a
// summary, numbers of an estimate, else the one value.
type contribution struct {
	attribute      mapping.Attribute
	added, removed []string
}

func contributed(a mapping.Attribute, w write) contribution {
	from, to := parted(a, w.from), parted(a, w.to)
	if a == mapping.Summary {
		return contribution{a, without(to, from), without(from, to)}
	}
	return contribution{a, without(to, from), nil}
}

// in reports whether a text holds the contribution. Nothing (a removed
// estimate, which planning cannot express) is everywhere.
func (c contribution) in(text string) bool {
	is := parted(c.attribute, text)
	return len(without(c.added, is)) == 0 && len(without(c.removed, is)) == len(c.removed)
}

func parted(a mapping.Attribute, value string) []string {
	var out []string
	switch a {
	case mapping.Summary:
		for line := range strings.SplitSeq(plainBullets(mapping.Canonical(mapping.Restore(value))), "\n") {
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, line)
			}
		}
	case mapping.Estimate:
		out = strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
	case mapping.Title:
		out = []string{mapping.CanonicalTitle(value)}
	default:
		out = []string{value}
	}
	slices.SortFunc(out, cmp.Compare[string])
	return slices.Compact(out)
}

// plainBullets undoes the one change that the planning service may make to a
// text when it normalises it.
func plainBullets(text string) string {
	lines := strings.Split(mapping.Canonical(text), "\n")
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, "* "); ok {
			lines[i] = "- " + rest
		}
	}
	return strings.Join(lines, "\n")
}
