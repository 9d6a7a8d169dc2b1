package store

import (
	"cmp"
	"time"
)

// KeyState is a key's state in the queue. Operators see its values.
type KeyState string

const (
	// KeyResting: in no queue, as there is nothing to do.
	KeyResting KeyState = "resting"
	// KeyDue: worked as soon as a worker is free; due since Standing.At.
	KeyDue KeyState = "due"
	// KeyWorked: under a claim that ends by Standing.At.
	KeyWorked KeyState = "worked"
	// KeyLater: due at Standing.At.
	KeyLater KeyState = "later"
	// KeyWaiting: until Standing.Service is woken; since Standing.At.
	KeyWaiting KeyState = "waiting"
	// KeyParked: given up at Standing.At.
	KeyParked KeyState = "parked"
)

// Standing is a key's state in the queue, and why nobody works it.
type Standing struct {
	Key      Key
	Route    string
	Where    string // as in Failure
	State    KeyState
	At       time.Time // depends on the state; zero where unknown
	Service  string    // set for KeyWaiting
	Reason   string    // set for KeyLater, KeyWaiting and KeyParked, and then never ""
	Attempts int       // as in Failure
}

// Unexplained reports whether the outcome lets the key wait for a time, a service or an operator
// without a reason.
func (o Outcome) Unexplained() bool {
	waits := o.After > 0 || o.Kind == Retry || o.Kind == Wait || o.Kind == Park || o.Kind == Hold
	return waits && o.Reason == ""
}

// CompareStandings orders Standings. Keys that wait for a service come first, with the longest
// wait of each service first. The others follow, latest due first.
func CompareStandings(a, b Standing) int {
	aw, bw := a.State == KeyWaiting, b.State == KeyWaiting
	switch {
	case aw && !bw:
		return -1
	case bw && !aw:
		return 1
	case aw:
		return cmp.Or(cmp.Compare(a.Service, b.Service), a.At.Compare(b.At), cmp.Compare(a.Key.Link, b.Key.Link))
	}
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Key.Link, b.Key.Link))
}
