// Package rules has the rules that the back ends share beyond the contract: bounds, and small
// computations with a stored or shown result. Its entry point is the list of constants.
package rules

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

const (
	// Schema is the version of the form in Redis; boltstore counts its own. A program refuses a
	// higher version.
	Schema = 3
	// Events bounds the events of a link, and separately those of the bridge's own account. The
	// oldest are dropped.
	Events = 64
	// Deliveries is how long a webhook delivery is remembered. GitHub redelivers for three days.
	Deliveries = 4 * 24 * time.Hour
	// DeliverySweep is how many outdated deliveries one observation removes, so that no single
	// one removes them all.
	DeliverySweep = 4
	// FallenSessions bounds the sessions that one heartbeat names.
	FallenSessions = 100
)

// StaysLive bounds the wait of a live key that is woken among live ones. Changes that people made
// while an outage ended come before keys that waited through it.
const StaysLive = 5 * time.Second

// How a budget is shared; see [store.Ask].
const (
	// UsageHalfLife is the half-life of a party's usage.
	UsageHalfLife = 5 * time.Minute
	// UsageLeast is the usage, in items, below which a party is forgotten.
	UsageLeast = 0.01
	// TurnGrace is how much longer than told a waiting party's turn is kept.
	TurnGrace = 5 * time.Second
	// TurnsPerItem is how many turns are given out for each coming item: some parties no longer
	// need their turn when it comes.
	TurnsPerItem = 4
	// Parties bounds the authors and waiting parties that a budget remembers.
	Parties = 512
)

// Shares are the twelfths of a budget that each level may use. The levels are people's changes of
// routes below their share, those above it, writes that only show, and imports.
var Shares = [4]int{12, 11, 10, 8}

// TurnMost bounds how far ahead turns are given out, so that a budget raised meanwhile is used.
// Imports have many keys, and each waits long.
func TurnMost(r store.Rank) time.Duration {
	if r == store.RankImport {
		return time.Hour
	}
	return 10 * time.Minute
}

// OneLine makes a name fit for a text with one name a line.
func OneLine(name string) string { return strings.ReplaceAll(name, "\n", " ") }

// Share returns how much of a bound a level may use, at least one.
func Share(level, bound int) int { return max(1, bound*Shares[level]/12) }

// CheckObservation returns why an observation cannot be stored.
func CheckObservation(project mapping.ObjectID, o *store.Observation) error {
	switch {
	case o.Create != nil && (o.Create.ID == "" || o.Create.Project != project):
		return fmt.Errorf("observation creates link %q of project %q in project %q", o.Create.ID, o.Create.Project, project)
	case o.Data != nil && o.Item == "":
		return fmt.Errorf("observation carries data for no item")
	}
	return nil
}

// CheckLink returns an error for a link that does not belong to its key. A nil link is fine.
func CheckLink(key store.Key, link *mapping.Link) error {
	if link == nil || link.ID == key.Link && link.Project == key.Project {
		return nil
	}
	return fmt.Errorf("link %s/%s is not the claimed %s", link.Project, link.ID, key)
}

// DeliveryKey is the stored form of a delivery: 12 bytes, distinct for each item of the delivery,
// as a webhook may be several observations.
func DeliveryKey(o *store.Observation) string {
	sum := sha256.Sum256([]byte(o.Delivery + "\x00" + string(o.Item)))
	return string(sum[:12])
}

// Where names a link for people: acme/web#12, else its card's id, else its own id.
func Where(l *mapping.Link) string {
	if l.Issue.Number != 0 {
		return fmt.Sprintf("%s#%d", l.Issue.Repo, l.Issue.Number)
	}
	return cmp.Or(string(l.Card.ID), string(l.ID))
}

// Label is the part of a link that lists of keys show.
type Label struct {
	Route string
	Where string // see [Where]
}

// ReadLabel reads only a link's label from its record.
func ReadLabel(record []byte) (Label, error) {
	var l struct {
		ID    mapping.LinkID `json:"id"`
		Route string         `json:"route"`
		Issue struct {
			Repo   string `json:"repo"`
			Number int    `json:"number"`
		} `json:"issue"`
		Card struct {
			ID mapping.ObjectID `json:"id"`
		} `json:"card"`
	}
	if err := json.Unmarshal(record, &l); err != nil {
		return Label{}, fmt.Errorf("read label: %w", err)
	}
	issue, card := mapping.IssueID{Repo: l.Issue.Repo, Number: l.Issue.Number}, mapping.CardID{ID: l.Card.ID}
	return Label{l.Route, Where(&mapping.Link{ID: l.ID, Pair: mapping.Pair{Issue: issue, Card: card}})}, nil
}

// SameConflict reports whether two ledger entries are equal.
func SameConflict(a, b mapping.Conflict) (bool, error) {
	x, err := json.Marshal(a)
	if err != nil {
		return false, fmt.Errorf("conflict %s: %w", a.ID, err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		return false, fmt.Errorf("conflict %s: %w", b.ID, err)
	}
	return bytes.Equal(x, y), nil
}

// Class is the class under which a link is counted: its state and its route.
func Class(l *mapping.Link) string { return string(l.State) + " " + l.Route }

// Counted adds n links of a class to counts.
func Counted(counts map[string]map[mapping.LinkState]int, class string, n int) {
	state, route, _ := strings.Cut(class, " ")
	if counts[route] == nil {
		counts[route] = map[mapping.LinkState]int{}
	}
	counts[route][mapping.LinkState(state)] += n
}

// Order returns a text that sorts as t does, to the millisecond.
func Order(t time.Time) string { return OrderInt(t.UnixMilli()) }

// OrderInt returns a text of 16 characters that sorts as n does.
func OrderInt(n int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n)^1<<63)
	return hex.EncodeToString(b[:])
}

// ParseOrderInt undoes [OrderInt].
func ParseOrderInt(s string) (int64, error) {
	u, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("order %q: %w", s, err)
	}
	return int64(u ^ 1<<63), nil
}

// WakeDelay spreads keys that are woken together: it returns the delay of the i-th one (from 0),
// in whole milliseconds. Without a rate all are due at once.
func WakeDelay(i int, perSecond float64) time.Duration {
	if perSecond <= 0 {
		return 0
	}
	return time.Duration(float64(i)*1000/perSecond) * time.Millisecond
}
