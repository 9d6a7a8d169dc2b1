package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
)

// newCard makes the card of an issue.
type newCard struct {
	*state
	how  string // how it was found
	seen []mapping.Card
}

func (c *newCard) consider(card mapping.Card) {
	if (signer{c.state}).hasMarker(card.Summary.Value, mapping.MarkCard) {
		c.seen = append(c.seen, card)
	}
}

// find searches the snapshots of the last poll, and the result of a lookup.
func (c *newCard) find(wants []*want) error {
	if err := (reader{c.state}).needIssue(); err != nil {
		return err
	}
	if c.how == "poll" {
		if err := c.considerSeen(); err != nil {
			return err
		}
	}
	found, err := creator{c.state}.oldest(c.seen)
	if found == nil || err != nil {
		return err
	}
	c.count(CountPrevented, c.how)
	creator{c.state}.noteFoundBy(found.Summary.Value)
	creator{c.state}.linkCard(found, "found by its marker ("+c.how+")")
	wants[0].done = true
	return nil
}

// considerSeen considers the cards of the claim, and the one that keepFound recorded.
func (c *newCard) considerSeen() error {
	if c.pair.Card.ID != "" {
		if err := (reader{c.state}).readCard(); err != nil {
			return err
		}
		c.seen = append(c.seen, *c.card)
	}
	for _, card := range allSeen[mapping.Card](c.claimState) {
		c.consider(card)
	}
	return nil
}

// oldest returns the first card, in the order of creation, that carries the link's marker and
// that no other link has; nil: there is none.
func (w creator) oldest(cards []mapping.Card) (*mapping.Card, error) {
	slices.SortFunc(cards, func(a, b mapping.Card) int { return cmp.Compare(a.CID, b.CID) })
	for i := range cards {
		if free, err := exclusivity(w).isFree(mapping.CardRef(cards[i].ID)); free || err != nil {
			return &cards[i], err
		}
	}
	return nil, nil
}

const (
	// lackingPatience bounds how long listings that lack an existing card prove nothing.
	// Planning may leave a card out of its listings for good.
	lackingPatience = 5 * time.Minute
	// lackingGap is the time between two lookups where the first one lacked a card.
	lackingGap = 5 * time.Second
)

// search reads every bucket and sprint, as the answer to an earlier request may have been lost.
// Listings that lack an existing card may lack this one, too.
func (c *newCard) search() error {
	c.how, c.seen = "lookup", nil
	found, err := do(c, FindCards{c.link.ID, c.owner.Issue.ID, c.link.Import != ""})
	for _, card := range found.Cards {
		c.consider(card)
	}
	if err == nil && len(c.seen) == 0 && found.Lacking != "" && c.since(c.pair.Intent.At) < lackingPatience {
		return later(lackingGap, "create card: the listings lack card %s, which is there, and prove nothing", found.Lacking)
	}
	return onPlanning(err)
}

func (c *newCard) ready(k *want) (bool, error) {
	if err := (exclusivity{c.state}).ensureExclusive(); err != nil {
		return false, err
	}
	if err := (reader{c.state}).needIssue(); err != nil {
		return false, err
	}
	if own := c.set.Routes.ByName(c.link.Route); own != nil && own.Project != c.link.Project {
		c.happens(mapping.EventReconsidered)
		c.pair.Intent, c.owner.Unfinished = nil, true
		return false, later(0, "its route leads to project %s now", own.ProjectName)
	}
	bucket := c.route.BucketFor(c.issue)
	ids, err := do(c, ReadBuckets{bucket})
	if err != nil {
		return false, onPlanning(err)
	}
	if len(ids) == 0 {
		return false, fmt.Errorf("create card: project %s has no bucket %q", c.route.ProjectName, bucket)
	}
	if err := (creator{c.state}).oneEstimate(); err != nil {
		return false, err
	}
	k.buckets, k.user, k.base = creator{c.state}.takersFirst(ids), planningWriter{c.state}.username(), creator{c.state}.firstBase()
	return true, nil
}

// takersFirst sorts a bucket's ids into the order in which they are tried. A bucket may have
// two ids, one of which works for its listing only (observed in real data). An id that
// planning has refused for a card comes last, as each try of an import waits for a batch.
func (w creator) takersFirst(ids []mapping.ObjectID) []mapping.ObjectID {
	return slices.SortedStableFunc(slices.Values(ids), func(a, b mapping.ObjectID) int {
		return get(w, Remembered{refusing(a)}) - get(w, Remembered{refusing(b)})
	})
}

// oneEstimate removes all estimate labels but the one that the item is made with. Once that
// one is the base, another label would count as newer.
func (w creator) oneEstimate() error {
	if len(w.extra) > 0 && !w.fresh {
		if err := reader(w).readIssue(); err != nil {
			return err
		}
	}
	for range maxRounds { // the answers may show labels that people set meanwhile
		if len(w.extra) == 0 {
			return nil
		}
		if err := githubWriter(w).dropLabels(w.extra, ""); err != nil {
			return err
		}
	}
	return fmt.Errorf("its estimate labels still changed after %d rounds", maxRounds)
}

// firstBase is the base of an item that is made from the issue, without the values that
// planning has refused.
func (w creator) firstBase() map[mapping.Attribute]mapping.Base {
	view, _ := mapping.IssueView(w.issue, w.set.Scheme, w.set.Keys, nil)
	bodyEditor(w).boundLines(view[mapping.Summary].Value)
	base := map[mapping.Attribute]mapping.Base{}
	for _, a := range []mapping.Attribute{mapping.Title, mapping.Summary, mapping.Estimate} {
		g := view[a].Value
		p := mapping.PlanningForm(a, w.link.Text(w.route, a, g), "")
		if refused, ok := w.pair.Refused[a]; ok && refused.Value == mapping.DigestText(p) && a != mapping.Title {
			p = ""
		}
		base[a] = mapping.Base{GitHub: g, Planning: p}
	}
	return base
}

// newItem is the content that planning is sent: that of the want itself, or that of its issue.
func (k *want) newItem() NewItem {
	if k.item != nil {
		return *k.item
	}
	return NewItem{
		Title: k.base[mapping.Title].Planning, Summary: signer(k.w).cardText(k.base[mapping.Summary].Planning), Estimate: k.base[mapping.Estimate].Planning,
	}
}

func (c *newCard) post(wants []*want) error {
	k := wants[0]
	made, err := do(c, CreateCard{
		Link: c.link.ID, Order: c.owner.Issue.Number, Bucket: k.buckets[0], Item: BatchItem{k.user, k.newItem()},
		Import: c.link.Import != "", Braked: c.pair.Intent.Braked, Most: cmp.Or(c.pair.Intent.Most, batchSize),
	})
	// A crowd makes as many cards with one request as an import does. One card that planning
	// refuses costs the others two shared lookups, and a request for each ten of them.
	if made.Refused {
		c.pair.Intent.Most, k.answered = max(1, made.Batch/10), true
	}
	if err == nil {
		creator{c.state}.linkCard(&made.Card, "made for the issue")
		k.done = true
	}
	return err
}

func (c *newCard) refused(_ *want, err error) error { return err }

// linkCard completes the link with the card that was made for it.
func (w creator) linkCard(card *mapping.Card, why string) {
	w.pair.Card = mapping.NameCard(card)
	w.pair.Card.Version, w.pair.Card.CountersVersion = card.Version, card.CountersVersion
	w.pair.Card.Made = w.route.BucketTitle(w.issue)
	view := mapping.CardView(card, w.set.Keys)
	w.pair.Base = map[mapping.Attribute]mapping.Base{}
	for a, base := range w.pair.Intent.Base {
		w.pair.Base[a] = planningWriter(w).answered(a, base, base.Planning, view[a])
	}
	reader(w).setCard(card)
	if b := w.link.Before; b != nil {
		why += fmt.Sprintf("; before, it had card %s of project %s", b.Card, w.set.Routes.ProjectName(b.Project))
	}
	w.linked(mapping.Planning, fmt.Sprintf("card %s %s", card.ID, why))
}
