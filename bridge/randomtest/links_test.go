package randomtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/reconcile/journal"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// Operators in the random run unlink a pair and link it again, and undo the outcome of a conflict.
// The laws for both are in chaos_links_judge_test.go.

// unlinkedKnown is how long after an unlink the pair may still be written. A request whose answer
// was lost may take effect so late.
const unlinkedKnown = chaosSettle + time.Second

// linkActs are what operators did to the links of a run. One goroutine at a time uses them.
type linkActs struct {
	*turn
	touched []*unlinked // pairs, in the order of their first unlink
	// undone are issues by the ids of their conflicts of which an undo was accepted; "": the pair was
	// parted since, so that it may have been done or not.
	undone map[string]string
}

// unlinked is a pair that operators unlinked at least once.
type unlinked struct {
	issue  int
	card   string
	cards  []string   // all that it was to be parted from: a store that is lost knows of no unlink
	joined bool       // with card, by the last act
	apart  bool       // it is unlinked, as far as operators know
	asked  time.Time  // when it was to be cleaned first; zero: never
	cleans bool       // it was to be cleaned since it was linked last
	clean  bool       // it was, and the cleaning has ended
	job    status.Job // the last cleaning
	stays  bool       // at the end of the run it is not linked again
	spells []span     // in which nothing may be written on it
}

// end ends the last spell, where it lasts.
func (u *unlinked) end(at time.Time) {
	u.apart, u.spells = false, ended(u.spells, at)
}

// drawLinkActs says whether operators do such things in the run.
func (c *chaos) drawLinkActs() {
	if one := c.trait(50); one != nil {
		c.links = &linkActs{turn: one, undone: map[string]string{}}
	}
}

// linking lets operators unlink, link and undo now and then.
func (c *chaos) linking(ctx context.Context) {
	if c.links == nil {
		return
	}
	for c.rests(ctx, c.links.Rand, time.Second, 4*time.Second) {
		one, clean := c.turns.next("link"), c.turns.next("clean")
		apart := slices.DeleteFunc(slices.Clone(c.links.touched), func(u *unlinked) bool { return !u.apart && !u.cleans })
		switch {
		case clean != nil && clean.chance(25):
			c.cleanOne(ctx, clean)
		case one == nil:
		case one.chance(50):
			c.undoOne(ctx, one)
		case len(apart) > 0 && one.chance(60):
			_ = c.linkAgain(ctx, apart[one.IntN(len(apart))]) // it is tried again at the end
		default:
			c.unlinkOne(ctx, one)
		}
	}
}

// askAny asks the bridges one after the other until one answers.
func (c *chaos) askAny(ctx context.Context, method, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	err = errors.New("no bridge runs")
	for _, p := range c.bridges {
		if !p.Running() {
			continue
		}
		if err = p.(*virtual).Ask(ctx, method, path, text, into); err == nil {
			return nil
		}
	}
	return err
}

// linkPath is the address of what operators ask for the link of an issue.
func linkPath(issue int, what string) string {
	return "/api/v1/links/" + url.PathEscape(issueNumber(issue)) + "/" + what
}

// unlinkOne unlinks one of the pairs that are linked.
func (c *chaos) unlinkOne(ctx context.Context, one *turn) {
	if u := c.linkedOne(ctx, one); u != nil {
		_ = c.unlink(ctx, u) // where it fails the pair may be parted or not
	}
}

// linkedOne is one of the pairs that are linked; nil: there is none.
func (c *chaos) linkedOne(ctx context.Context, one *turn) *unlinked {
	var all status.Links
	if c.askAny(ctx, http.MethodGet, "/api/v1/links?limit=1000&state=linked", nil, &all) != nil {
		return nil
	}
	all.Links = slices.DeleteFunc(all.Links, func(l status.Link) bool {
		return l.Issue == nil || l.Issue.Repository != bridgetest.RepoName || l.Card == nil
	})
	if len(all.Links) == 0 {
		return nil
	}
	slices.SortFunc(all.Links, func(a, b status.Link) int { return a.Issue.Number - b.Issue.Number })
	l := all.Links[one.IntN(len(all.Links))]
	at := slices.IndexFunc(c.links.touched, func(u *unlinked) bool { return u.issue == l.Issue.Number })
	if at < 0 {
		at = len(c.links.touched)
		c.links.touched = append(c.links.touched, &unlinked{issue: l.Issue.Number, card: l.Card.ID})
	}
	u := c.links.touched[at]
	u.cards, u.joined = append(u.cards, l.Card.ID), false
	u.stays = one.chance(25)
	return u
}

// unlink parts a pair, and with it goes what was asked of it. Where nobody answers, it may be
// parted or not.
func (c *chaos) unlink(ctx context.Context, u *unlinked) error {
	c.links.voidUndone(u.issue)
	err := c.askAny(ctx, http.MethodPost, linkPath(u.issue, "unlink"), nil, nil)
	if err == nil {
		c.people.did(nil, "operator: unlinks issue %d from card %d", u.issue, c.people.card(u.card))
		u.apart, u.spells = true, append(u.spells, span{from: time.Now().Add(unlinkedKnown)})
	}
	return err
}

// linkAgain links the pair again. A cleaning that waits for the pair ends first: it would part it.
func (c *chaos) linkAgain(ctx context.Context, u *unlinked) error {
	_ = c.jobEnds(ctx, &u.job, nil) // it may have failed, or its bridge is gone
	u.end(time.Now())
	err := c.askAny(ctx, http.MethodPost, linkPath(u.issue, "link"), status.Join{Card: u.card}, nil)
	if err == nil {
		u.cleans, u.clean, u.joined = false, false, true
		c.people.did(nil, "operator: links issue %d with card %d", u.issue, c.people.card(u.card))
	}
	return err
}

// voidUndone drops what was to be undone on an issue, as its pair is parted. It may have been done.
func (l *linkActs) voidUndone(issue int) {
	for id, where := range l.undone {
		if where == issueNumber(issue) {
			l.undone[id] = ""
		}
	}
}

// undoOne undoes one of the conflicts that are settled.
func (c *chaos) undoOne(ctx context.Context, one *turn) {
	var all status.Conflicts
	if c.askAny(ctx, http.MethodGet, "/api/v1/conflicts?limit=10000", nil, &all) != nil {
		return
	}
	settled := slices.DeleteFunc(all.Conflicts, func(k status.Conflict) bool { return k.State != mapping.ConflictSettled })
	if len(settled) == 0 {
		return
	}
	k := settled[one.IntN(len(settled))]
	if c.askAny(ctx, http.MethodPost, "/api/v1/conflicts/"+k.ID+"/undo", nil, nil) == nil {
		c.links.undone[k.ID] = k.Where
		c.people.did(nil, "operator: undoes the conflict of the %s of %s between %q and %q", k.Attribute, k.Where, k.GitHub, k.Planning)
	}
}

// endLinking links all pairs again but those that stay apart. A bridge may have been away
// before, or an older store put back.
func (c *chaos) endLinking() (complaints []complaint) {
	if c.links == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), c.patience(restWithin))
	defer cancel()
	for _, u := range c.links.touched {
		u.stays = u.stays && !c.sim.forgotten
		try := c.linkAgain
		if u.stays {
			try = c.unlink
		}
		if u.stays && u.cleans {
			try = c.cleanUp
		}
		for tries := 0; !(u.stays && u.apart); tries++ {
			err := try(ctx, u)
			if err == nil {
				break
			}
			if c.sim.forgotten && tries == 10 { // items unknown by then are found by their markers
				break
			}
			if !pause(ctx, c.links.Rand, 100*time.Millisecond, time.Second) {
				return append(complaints, complaint{issue: u.issue, card: u.card, what: "operators cannot link or unlink it: " + err.Error()})
			}
		}
	}
	return complaints
}

// apart are the pairs that stay unlinked, by the number of their issue.
func (c *chaos) apart() map[int]string {
	out := map[int]string{}
	if c.links != nil {
		for _, u := range c.links.touched {
			if u.stays {
				out[u.issue] = u.card
			}
		}
	}
	return out
}

// parted are the cards that issues were parted from and have no more, by the number of the issue.
func (c *chaos) parted() map[int][]string {
	out := map[int][]string{}
	if c.links != nil {
		for _, u := range c.links.touched {
			out[u.issue] = slices.DeleteFunc(slices.Clone(u.cards), func(id string) bool { return u.joined && id == u.card })
		}
	}
	return out
}

// whileUnlinked complains of what was written on a pair while it was unlinked. A text that a
// write before ran over may come back. A store that is lost knows of no unlink.
func (c *chaos) whileUnlinked() (all []complaint) {
	if c.links == nil || c.sim.forgotten {
		return nil
	}
	for _, u := range c.links.touched {
		within := func(has func(span) bool) bool { return slices.ContainsFunc(u.spells, has) }
		for _, call := range c.GitHub.Journal() {
			if call.Number == u.issue && writesRepo(call) && !c.bringsBack(u.issue, call.Body) && within(func(s span) bool { return s.hasSecond(call.Time) }) {
				all = append(all, complaint{issue: u.issue, what: fmt.Sprintf("written at %s while it was unlinked: %s %s", call.Time.Format(time.TimeOnly), call.Op, call.Body)})
			}
		}
		items := c.itemsOf(u)
		for _, call := range c.Planning.Journal() {
			on := slices.ContainsFunc(items, func(id string) bool { return strings.Contains(call.Path, id) })
			if on && slices.Contains(planningWrites, call.Op) && within(func(s span) bool { return s.has(call.Time) }) {
				all = append(all, complaint{card: u.card, what: fmt.Sprintf("written at %s while it was unlinked: %s %s", call.Time.Format(time.TimeOnly), call.Op, call.Body)})
			}
		}
	}
	return all
}

// itemsOf are the card of a pair and its tasks.
func (c *chaos) itemsOf(u *unlinked) []string {
	items := []string{u.card}
	for _, t := range c.people.project(u.card).Card(u.card).Tasks {
		items = append(items, t.ID)
	}
	return items
}

// bringsBack reports whether a request to an issue has a word that a person wrote there. A write of
// the bridge had replaced that word at once.
func (c *chaos) bringsBack(issue int, body string) bool {
	for _, attribute := range []string{"title", "body"} {
		past := c.Repo.History(issue, attribute)
		for n := 1; n < len(past); n++ {
			edit, over := past[n-1], past[n]
			ranOver := !edit.ByAPI && over.ByAPI && over.Time.Sub(edit.Time) <= journal.Doubt
			if ranOver && slices.ContainsFunc(wordsBeside(edit.Value, over.Value), func(word string) bool { return saysWord(body, word) }) {
				return true
			}
		}
	}
	return false
}
