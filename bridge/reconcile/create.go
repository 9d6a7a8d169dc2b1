package reconcile

import (
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
)

// The bridge makes each item exactly once. One protocol, creation, serves all kinds of items:
//
//  1. An item with the marker of a wanted item is that item. Where a request for it may have been
//     sent before, its absence is proven first: the settle time has passed, and then complete
//     lookups found nothing.
//  2. The intents are saved as sent, then one request goes out. The items in its answer are linked.
//  3. After a lost answer nothing is known. The key is put off, and begins at 1 again.
//  4. A refused request for several items is followed by a lookup, and then halved. A refused
//     single item loses the parts that the refusal may be about, one after the other (leaveOut).
//
// A kind says what a request sends, how an item is found, and which parts it may lack.

// lookupGap is the time between two complete lookups that prove absence.
const lookupGap = time.Second

// creation makes items of one kind.
type creation struct {
	w      work
	side   mapping.Side
	what   string // is done, for errors
	proofs int    // complete lookups in a row that prove absence
	// free: the route's brake does not count these items. An operator asked for an import, so
	// it is no flood. Its cards go out in batches, one batch at a time. Its issues are bounded
	// by a share of GitHub's write budget, which leaves the rest to live changes.
	free       bool
	yieldsSlot bool // it waits for other keys, so that one request serves all of them
	kind
}

// kind has the differences between the kinds of items.
type kind interface {
	// find links the wants whose items have been seen. After an error their number is not
	// known.
	find(wants []*want) error
	// search makes one complete lookup.
	search() error
	// ready reports whether a want may be made now, and fills in its content.
	ready(k *want) (bool, error)
	// post sends one request, and links the items in its answer.
	post(wants []*want) error
	// refused handles a want that is refused whatever is left out, or whose parent is gone.
	refused(k *want, err error) error
}

// once makes the wants that can be made now.
func (c *creation) once(wants ...*want) error {
	absent, err := c.absent(wants)
	if len(absent) > 0 && c.w.set.DryRun {
		return creator(c.w).wouldCreate()
	}
	ready, errs := map[string][]*want{}, []error{err}
	for _, k := range absent {
		ok, err := c.ready(k)
		if errs = append(errs, err); ok && err == nil {
			ready[k.user] = append(ready[k.user], k)
		}
	}
	for _, batch := range mapping.Sorted(ready) {
		errs = append(errs, c.makeWithinBrake(batch))
	}
	for _, k := range wants {
		errs = append(errs, k.err)
	}
	return mostSevere(errs)
}

// absent returns the wants that certainly do not exist yet.
func (c *creation) absent(wants []*want) (absent []*want, err error) {
	if err := c.find(wants); err != nil {
		return nil, err
	}
	var errs []error
	var unsure []*want
	settle := c.w.set.Settle.of(c.side)
	for _, k := range notMade(wants) {
		switch wait := settle - c.w.since(k.intent.At); {
		case !k.intent.Sent:
			absent = append(absent, k)
		case wait > 0:
			errs = append(errs, later(wait, "%s: it may still be under way", c.what))
		default:
			unsure = append(unsure, k)
		}
	}
	if len(unsure) == 0 {
		return absent, mostSevere(errs)
	}
	if err := c.lookFor(unsure); err != nil {
		return absent, mostSevere(append(errs, err))
	}
	for _, k := range notMade(unsure) {
		if k.intent.Lookups++; k.intent.Lookups < c.proofs {
			errs = append(errs, later(lookupGap, "%s: absence is to be proven by a second lookup", c.what))
			continue
		}
		k.intent.Sent, k.intent.Lookups = false, 0
		absent = append(absent, k)
	}
	return absent, mostSevere(errs)
}

// lookFor makes a complete lookup, and links the wants that it found.
func (c *creation) lookFor(wants []*want) error {
	if err := c.aside(c.search); err != nil {
		return err
	}
	return c.find(wants)
}

// makeWithinBrake makes as many wants as the route's brake allows.
func (c *creation) makeWithinBrake(wants []*want) error {
	for len(wants) > 0 {
		n, err := min(len(wants), batchSize), error(nil)
		if !c.free {
			n, err = saver(c.w).brake("creates", c.w.set.Brakes.CreatesPerMinute, n)
			for _, k := range wants {
				k.intent.Braked = k.intent.Braked || n == 0
			}
		}
		if err == nil {
			err = c.request(wants[:n])
		}
		if err != nil {
			return err
		}
		wants = wants[n:]
	}
	return nil
}

// request sends one request for wants, and acts on its answer.
func (c *creation) request(wants []*want) error {
	for _, k := range wants {
		k.intent.Base = k.base
	}
	err, many := c.send(wants), len(wants) > 1
	if wants = notMade(wants); len(wants) == 0 {
		return nil
	}
	k := wants[0]
	var refused *mapping.Rejection
	is := errors.As(err, &refused)
	out := leaveOut(c.side, k.has(c.side), err)
	switch {
	case k.intent.Sent && err == nil:
		return later(c.w.set.Settle.of(c.side), "%s: %d are not in the answer; to be looked for", c.what, len(wants))
	case k.intent.Sent && k.answered: // absence is proven without the settle time
		k.intent.At = c.w.Now().UTC().Add(-c.w.set.Settle.of(c.side))
		return later(lookupGap, "%v; to be looked for before it is tried again", err)
	case k.intent.Sent:
		return later(c.w.set.Settle.of(c.side), "%v; to be looked for before it is tried again", err)
	case is && many: // the refused item is not known
		return c.halve(wants)
	case out != "":
		k.without(c.side, out, refused)
		return c.request(wants)
	case is || IsGone(err):
		return c.refused(k, err)
	}
	return err
}

// send saves the intents as sent, and sends one request. Where its answer proves that nothing
// was made, the intents are marked as unsent again.
func (c *creation) send(wants []*want) (err error) {
	post := func() error {
		for _, k := range wants {
			k.intent.Sent, k.intent.At, k.intent.Lookups = true, c.w.Now().UTC(), 0
		}
		if err := saver(c.w).writing(); err != nil {
			unsend(wants)
			return err
		}
		err := c.post(wants)
		if err != nil && Certain(err) {
			unsend(notMade(wants))
		}
		if err != nil {
			return onSide(c.side, fmt.Errorf("%s: %w", c.what, err))
		}
		return nil
	}
	return c.aside(post)
}

// aside runs a request that may wait for other keys. These use the worker's slot meanwhile, so that
// live changes go on. Where too many keys wait already, the key is put off instead.
func (c *creation) aside(request func() error) error {
	if !c.yieldsSlot {
		return request()
	}
	retry, err := do(c.w, StandAside{})
	switch {
	case err != nil:
		return err
	case retry > 0:
		return inTurn(retry, "enough keys of the import are under way")
	}
	err = request()
	send(c.w, ComeBack{})
	return err
}

func unsend(wants []*want) {
	for _, k := range wants {
		k.intent.Sent = false
	}
}

// halve sends a refused request again as two, so that one refused value does not block the
// other items. The API document does not say whether the refused request made some of them, so
// a lookup comes first.
func (c *creation) halve(wants []*want) error {
	if err := c.lookFor(wants); err != nil {
		return err
	}
	var errs []error
	wants = notMade(wants)
	half := (len(wants) + 1) / 2
	for _, part := range [][]*want{wants[:half], wants[half:]} {
		if len(part) > 0 && !isTerminal(errs) {
			errs = append(errs, c.request(part))
		}
	}
	return mostSevere(errs)
}

func (w creator) wanted() *want { return &want{w: work(w), intent: w.pair.Intent} }

// partner is the creation of the item that the link's intent names.
func (w creator) partner() *creation {
	imported := w.link.Import != "" && !w.pair.IsTask()
	if w.pair.Intent.Side == mapping.GitHub {
		what := "create issue in " + w.owner.Issue.Repo
		return &creation{w: work(w), side: mapping.GitHub, what: what, proofs: 1, free: imported, kind: &newIssue{state: w.state, how: "webhook"}}
	}
	return &creation{w: work(w), side: mapping.Planning, what: "create card", proofs: 2, free: imported, yieldsSlot: imported, kind: &newCard{state: w.state, how: "poll"}}
}

// wouldCreate logs what a dry run would create. The link is removed; the next change makes
// another one.
func (w creator) wouldCreate() error {
	if get(w, Remember{"dry run " + where(w.owner), 1}) == 0 {
		w.log.Info("dry run: would create", "side", w.pair.Intent.Side)
	}
	return errRemove
}

// keepFound records the partner, known by its marker, of a pair that no route takes and that has none
// yet. A listing shows it once. The pair is completed once a route takes it again.
func (w creator) keepFound() error {
	switch {
	case w.pair.Origin == mapping.GitHub && w.pair.Card.ID == "":
		c := &newCard{state: w.state}
		if err := c.considerSeen(); err != nil {
			return err
		}
		card, err := w.oldest(c.seen)
		if card != nil && err == nil {
			w.noteFoundBy(card.Summary.Value)
			w.pair.Card = mapping.NameCard(card)
		}
		return err
	case w.pair.Origin == mapping.Planning && w.pair.Issue.ID == 0:
		c := &newIssue{state: w.state}
		err := c.considerSeen()
		if c.found != nil {
			w.noteFoundBy(c.text)
			w.pair.Issue = mapping.NameIssue(c.found)
		}
		return err
	}
	return nil
}

func (w creator) linked(side mapping.Side, why string) {
	for a, base := range mapping.Sorted(w.pair.Base) {
		if base.Planning != "" || base.GitHub != "" {
			w.count(CountWrites, w.link.Route, string(side), string(a))
		}
	}
	w.happens(mapping.EventCompleted)
	w.pair.Intent, w.owner.Unfinished = nil, true
	w.log = w.logger()
	saver(w).observeLag(side)
	w.note(side, "", "create", why)
}
