package sim

import (
	"context"
	"runtime/pprof"

	"planbridge/mapping"
	"planbridge/store"
)

// Witness observes the replicas' claims, and their adoption of a lost store, before anything else
// goes on.
type Witness interface {
	// Adopted: the actor works with the content of a store that was lost or put back.
	Adopted(actor string)
	// Claimed: the actor has a claim.
	Claimed(actor string, c *store.Claim)
	// Stored: the record of the actor's claim is in the store; nil: the record was removed.
	Stored(actor string, c *store.Claim, link *mapping.Link)
	// Ends: the actor is about to finish a claim.
	Ends(actor string, c *store.Claim, out store.Outcome)
	// Sent: a loop of the actor is about to send a request for a claim of the key; "": the request
	// is of no loop, or for no key.
	Sent(actor, loop, key, what string, body []byte)
}

func (s *Store) claimed(c *store.Claim) *store.Claim {
	if s.Witness != nil && c != nil {
		s.Witness.Claimed(s.Actor, c)
	}
	return c
}

func (s *Store) stored(c *store.Claim, link *mapping.Link, err error) error {
	if s.Witness != nil && err == nil {
		s.Witness.Stored(s.Actor, c, link)
	}
	return err
}

func (s *Store) ends(c *store.Claim, out store.Outcome) {
	if s.Witness != nil {
		s.Witness.Ends(s.Actor, c, out)
	}
}

// sent reports a request under the labels of a loop and of a key.
func (n *Network) sent(ctx context.Context, what string, body []byte) {
	if n.Witness == nil {
		return
	}
	loop, _ := pprof.Label(ctx, "loop")
	key, _ := pprof.Label(ctx, "key")
	n.Witness.Sent(n.Actor, loop, key, what, body)
}
