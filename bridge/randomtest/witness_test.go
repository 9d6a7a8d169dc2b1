package randomtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/planningtest"
	"planbridge/mapping"
	"planbridge/store"
)

// witness holds each claim of a run in virtual time to what holds of all of them. It
// implements [sim.Witness].
type witness struct {
	mu      sync.Mutex
	wrong   []string
	holders map[string]holder
	links   map[string]*mapping.Link // as they were last stored, by their key
	people  *people
	polled  []time.Time               // when a poll listed a backlog
	placed  map[mapping.ObjectID]bool // the cards whose records have a bucket since; nil: it was never adopted
}

// holder is the actor with the newest claim of a key.
type holder struct {
	actor string
	token int64
	until time.Time
}

func (w *witness) noteWrong(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.complain(format, args...)
}

func (w *witness) complain(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// witnessed complains of what was wrong; nil: the run is none in virtual time.
func (s *simulation) witnessed() (all []complaint) {
	if s == nil {
		return nil
	}
	s.witness.mu.Lock()
	defer s.witness.mu.Unlock()
	for _, what := range s.witness.wrong {
		all = append(all, complaint{what: what})
	}
	return all
}

// Adopted implements [sim.Witness].
func (w *witness) Adopted(string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.placed = map[mapping.ObjectID]bool{}
}

// forgets reports whether no record has a card's bucket since the store was adopted. A sprint's
// sight may replace a listing's, after a restart, before a key takes it in.
func (w *witness) forgets(card string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.placed != nil && !w.placed[mapping.ObjectID(card)]
}

// polls are the listings among planning's calls by which a bridge polled. Keys and operators list to look
// for a card.
func (w *witness) polls(calls []planningtest.Call) []planningtest.Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(calls, func(call planningtest.Call) bool {
		_, polled := slices.BinarySearchFunc(w.polled, call.Time, time.Time.Compare)
		return !polled || !isListing(call)
	})
}

// Claimed implements [sim.Witness].
func (w *witness) Claimed(actor string, c *store.Claim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holders == nil {
		w.holders = map[string]holder{}
	}
	w.holders[c.Key.String()] = holder{actor, c.Token, c.Until}
}

// Sent implements [sim.Witness]: a writer for a key has the newest claim of it, and its lease has
// not ended.
func (w *witness) Sent(actor, loop, key, what string, body []byte) {
	method, path, _ := strings.Cut(what, " ")
	if strings.HasPrefix(loop, "poll of ") && method == "GET" && strings.HasSuffix(path, "/backlog/items") {
		w.mu.Lock()
		w.polled = append(w.polled, time.Now())
		w.mu.Unlock()
	}
	if key == "" || method == "GET" || method == "HEAD" || strings.HasPrefix(path, "/graphql") && !bytes.Contains(body, []byte("mutation")) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	h, now := w.holders[key], time.Now()
	if h.actor != actor {
		w.complain("%s sends %s for key %s, which %q holds", actor, what, key, h.actor)
	} else if now.After(h.until) {
		w.complain("%s sends %s for key %s, whose lease ended %s ago", actor, what, key, now.Sub(h.until))
	}
}

// Ends implements [sim.Witness]: no key waits without a reason.
func (w *witness) Ends(_ string, c *store.Claim, out store.Outcome) {
	if out.Unexplained() {
		w.noteWrong("key %s waits without a reason: %+v", c.Key, out)
	}
}

// Stored implements [sim.Witness].
func (w *witness) Stored(_ string, c *store.Claim, link *mapping.Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.links == nil {
		w.links = map[string]*mapping.Link{}
	}
	key := c.Key.String()
	before := w.links[key]
	delete(w.links, key)
	if link == nil {
		return
	}
	again, err := readAgain(link)
	if err != nil {
		w.complain("key %s: %v", key, err)
		return
	}
	w.links[key] = again
	if w.placed != nil && again.Card.BucketName != "" {
		w.placed[again.Card.ID] = true
	}
	w.keepsPartners(before, again)
	w.knowsVersions(again)
}

// readAgain encodes a record and reads it: it is the same.
func readAgain(link *mapping.Link) (*mapping.Link, error) {
	var again mapping.Link
	first, err := json.Marshal(link)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(first, &again); err != nil {
		return nil, err
	}
	second, err := json.Marshal(&again)
	if err == nil && !bytes.Equal(first, second) {
		err = fmt.Errorf("read and encoded again, it is %s, and was %s", second, first)
	}
	return &again, err
}

// keepsPartners: while a record exists, an item in it keeps its partner, but for one that is gone.
func (w *witness) keepsPartners(before, after *mapping.Link) {
	if before == nil || before.ID != after.ID || before.Moving != nil {
		return
	}
	was := map[mapping.ObjectID]*mapping.Pair{}
	for _, p := range before.All() {
		if p.Card.ID != "" && p.Issue.ID != 0 && p.State != mapping.Orphaned {
			was[p.Card.ID] = p
		}
	}
	for _, p := range after.All() {
		old := was[p.Card.ID]
		if old != nil && p.Issue.ID != 0 && p.Issue.ID != old.Issue.ID && !slices.Contains(p.Former, old.Issue.ID) {
			w.complain("item %s, partner of issue %d, is now that of issue %d", p.Card.ID, old.Issue.ID, p.Issue.ID)
		}
	}
}

// knowsVersions: planning had each version that a record says was agreed on.
func (w *witness) knowsVersions(link *mapping.Link) {
	for _, pair := range link.All() {
		p := w.people.project(string(pair.Card.ID))
		for _, a := range slices.Sorted(maps.Keys(pair.Base)) {
			if a == mapping.State && pair.Kind == mapping.Root { // its tracking task carries it
				continue
			}
			if b := pair.Base[a]; !had(p, string(pair.Card.ID), a, b) {
				w.complain("the %s of item %s was never %q in version %d", a, pair.Card.ID, b.Planning, b.Version)
			}
		}
	}
}

// had reports whether an item had a value in a version. A create that was not answered says
// nothing of the version of the first value: 0 stands for it.
func had(p *planningtest.Project, item string, a mapping.Attribute, b mapping.Base) bool {
	past := p.History(item, string(a))
	at := slices.IndexFunc(past, func(v planningtest.Value) bool { return v.Version == b.Version })
	if at < 0 && b.Version == 0 {
		if b.Planning == "" {
			return true // it was never set
		}
		at = min(0, len(past)-1)
	}
	switch {
	case at < 0:
		return false
	case a == mapping.Title:
		return strings.Contains(mapping.CanonicalTitle(past[at].Value), mapping.CanonicalTitle(b.Planning))
	case a == mapping.Estimate:
		return mapping.CanonicalNumber(past[at].Value) == mapping.CanonicalNumber(b.Planning)
	}
	return true
}
