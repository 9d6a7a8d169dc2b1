package planningtest

import (
	"net/http"
	"slices"
	"time"
)

// FaultKind is the effect of a [Fault] on a call.
type FaultKind string

// The kinds of faults. An error answer is that of the fault's Status, Body
// and Header.
const (
	Before       FaultKind = "before"        // an error answer, no effect
	After        FaultKind = "after"         // the effect, then an error answer
	Drop         FaultKind = "drop"          // the effect, then the connection is cut without an answer
	DropBefore   FaultKind = "drop-before"   // the connection is cut, no effect
	Delay        FaultKind = "delay"         // effect and answer come Delay later
	LateEffect   FaultKind = "late-effect"   // an error answer (504 by default) at once, the effect Delay later
	Garbage      FaultKind = "garbage"       // the effect, then an answer that is no JSON
	Truncate     FaultKind = "truncate"      // the effect, then half of the answer and a cut connection
	PartialBatch FaultKind = "partial-batch" // only the first N elements of a batch are made, then an error answer
	EmptyListing FaultKind = "empty-listing" // a list comes without its elements
	HalfListing  FaultKind = "half-listing"  // a list comes with the first half of its elements
)

// Fault makes calls go wrong.
type Fault struct {
	// Op names the operation that meets the fault (OpCardUpdate …); "" means
	// every one. Match, if set, must agree.
	Op    string
	Match func(method, path string) bool
	Times int // how many calls meet it; 0 means one, -1 all until Remove
	Kind  FaultKind

	// Delay is that of [Delay] and [LateEffect]; 0 means until Release.
	Delay time.Duration
	N     int // of [PartialBatch]
	// Status of an error answer; 0 means 500, for LateEffect 504. Body is
	// sent as it is; "" means a JSON object with an error. Header is added.
	Status int
	Body   string
	Header http.Header
}

// ActiveFault is a fault that was set. Its methods are safe for concurrent
// use.
type ActiveFault struct {
	Fault
	s        *Server
	left     int
	count    int
	released bool
	release  chan struct{}
}

// Fault lets calls meet f. Of several that match a call, the one that was set
// first takes it.
func (s *Server) Fault(f Fault) *ActiveFault {
	defer s.act()()
	a := &ActiveFault{Fault: f, s: s, left: or(f.Times, 1), release: make(chan struct{})}
	s.faults = append(s.faults, a)
	return a
}

// Remove ends the fault for calls to come.
func (f *ActiveFault) Remove() {
	defer f.s.act()()
	f.s.faults = slices.DeleteFunc(f.s.faults, func(o *ActiveFault) bool { return o == f })
}

// Count is how many calls met the fault, counted when they arrive.
func (f *ActiveFault) Count() int {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	return f.count
}

// Release lets every held call happen now, and ends the fault's holding.
func (f *ActiveFault) Release() {
	defer f.s.act()()
	if !f.released {
		f.released = true
		close(f.release)
	}
}

// meet finds the fault that a call meets, nil for none.
func (s *Server) meet(op, method, path string) *ActiveFault {
	defer s.act()()
	for i, f := range s.faults {
		if f.Op != "" && f.Op != op || f.Match != nil && !f.Match(method, path) {
			continue
		}
		f.count++
		if f.left--; f.left == 0 {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
		return f
	}
	return nil
}

func (f *ActiveFault) is(k FaultKind) bool { return f != nil && f.Kind == k }

func (f *ActiveFault) wait() bool { return f.s.pause(f.Delay, f.Delay == 0, f.release) }

// apply executes the call under the fault and returns the answer, nil for none. A nil fault changes
// nothing.
func (f *ActiveFault) apply(c *call) *answer {
	if f == nil {
		return c.execute()
	}
	switch f.Kind {
	case Before:
		return f.answer(http.StatusInternalServerError)
	case After, PartialBatch:
		c.execute()
		return f.answer(http.StatusInternalServerError)
	case Drop:
		c.execute()
		return nil
	case DropBefore:
		return nil
	case Delay:
		if !f.wait() {
			return nil
		}
	case LateEffect:
		// The call itself is still counted, so that Close cannot miss this.
		f.s.work.Go(func() {
			if f.wait() {
				late := *c
				late.execute()
			}
		})
		return f.answer(http.StatusGatewayTimeout)
	case Garbage:
		c.execute()
		return encode(http.StatusOK, "<!doctype html><title>Please log in</title>")
	}
	return c.execute()
}

// answer is the fault's error answer.
func (f *ActiveFault) answer(status int) *answer {
	status = or(f.Status, status)
	a := encode(status, object{"error": http.StatusText(status)})
	if f.Body != "" {
		a.body = []byte(f.Body)
	}
	for name, values := range f.Header {
		a.header[http.CanonicalHeaderKey(name)] = values
	}
	return a
}

// cut is the part of a list that the call's fault leaves.
func cut[T any](c *call, list []T) []T {
	switch {
	case c.fault.is(EmptyListing):
		return list[:0]
	case c.fault.is(HalfListing):
		return list[:len(list)/2]
	}
	return list
}
