// Package rules holds what both back ends of the store have to agree on beyond
// the contract: its bounds, and small computations whose result is stored or
// shown. Its door is the list of constants.
package rules

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

const (
	// Schema is the version of the stored form. A program refuses what a
	// higher one wrote.
	Schema = 2
	// History bounds the entries that are kept per link.
	History = 50
	// Events bounds the events that are kept per link; the oldest give way.
	Events = 64
	// Deliveries is how long a webhook delivery is remembered. GitHub lets a
	// delivery be redelivered for three days.
	Deliveries = 4 * 24 * time.Hour
	// DeliverySweep is how many outdated deliveries one observation clears
	// away, so that no single one pays for all.
	DeliverySweep = 4
)

// CheckObservation reports what makes an observation impossible to store.
func CheckObservation(project mapping.ObjectID, o *store.Observation) error {
	switch {
	case o.Create != nil && (o.Create.ID == "" || o.Create.Project != project):
		return fmt.Errorf("observation creates link %q of project %q in project %q", o.Create.ID, o.Create.Project, project)
	case o.Data != nil && o.Item == "":
		return fmt.Errorf("observation carries data for no item")
	}
	return nil
}

// CheckLink reports a link that does not belong to the key under which it is
// to be stored. A nil link is fine.
func CheckLink(key store.Key, link *mapping.Link) error {
	if link == nil || link.ID == key.Link && link.Project == key.Project {
		return nil
	}
	return fmt.Errorf("link %s/%s is not the claimed %s", link.Project, link.ID, key)
}

// DeliveryKey is what is kept of a delivery: 12 bytes, distinct for each item
// that one delivery shows, since a webhook may be an observation of several.
func DeliveryKey(o *store.Observation) string {
	sum := sha256.Sum256([]byte(o.Delivery + "\x00" + string(o.Item)))
	return string(sum[:12])
}

// Where names a link for people: acme/web#12, or its card's id while there is
// no issue.
func Where(l *mapping.Link) string {
	if l.Issue.Number != 0 {
		return fmt.Sprintf("%s#%d", l.Issue.Repo, l.Issue.Number)
	}
	return string(l.Card.ID)
}

// Order is a text that sorts as t does, to the millisecond.
func Order(t time.Time) string { return OrderInt(t.UnixMilli()) }

// OrderInt is a text of 16 characters that sorts as n does.
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

// WakeDelay spreads keys that are woken together: the i-th one (from 0) is due
// that much later. Without a rate all are due at once.
func WakeDelay(i int, perSecond float64) time.Duration {
	if perSecond <= 0 {
		return 0
	}
	return time.Duration(float64(i) / perSecond * float64(time.Second))
}
