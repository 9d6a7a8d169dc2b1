package store

import (
	"cmp"
	"time"
)

// KeyState says where a key stands; its values are shown to operators.
type KeyState string

const (
	// KeyResting: in no queue, as nothing is to be done.
	KeyResting KeyState = "resting"
	// KeyDue: worked as soon as a worker is free; due since Standing.At.
	KeyDue KeyState = "due"
	// KeyWorked: under a claim, which ends at Standing.At at the latest.
	KeyWorked KeyState = "worked"
	// KeyLater: due at Standing.At.
	KeyLater KeyState = "later"
	// KeyWaiting: until Standing.Service is woken; since Standing.At.
	KeyWaiting KeyState = "waiting"
	// KeyParked: given up at Standing.At.
	KeyParked KeyState = "parked"
)

// Standing is where a key stands in the queue, and why it is not worked.
type Standing struct {
	Key      Key
	Route    string
	Where    string // as of a Failure
	State    KeyState
	At       time.Time // see the states; zero where it is not known
	Service  string    // of KeyWaiting
	Reason   string    // of KeyLater, KeyWaiting and KeyParked: never ""
	Attempts int       // as of a Failure
}

// Unexplained reports whether the outcome has the key wait, for a time, a service or an
// operator, and does not say why.
func (o Outcome) Unexplained() bool {
	waits := o.After > 0 || o.Kind == Retry || o.Kind == Wait || o.Kind == Park || o.Kind == Hold
	return waits && o.Reason == ""
}

// CompareStandings is the order of Standings: what waits for a service, the longest wait
// of each service first; then the others, latest due first.
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
