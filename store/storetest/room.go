package storetest

import (
	"bytes"
	"math/rand/v2"

	"planbridge/store"
)

// FillLeaves bounds the room that a filled store has left.
const FillLeaves = 256 << 10

// testNoRoom fills the store and gives it room again.
func testNoRoom(f *fixture) {
	l := f.made()
	f.no("Ping", f.Ping(f.ctx))
	large := make([]byte, FillLeaves)
	rand.NewChaCha8([32]byte{}).Read(large) //nolint:errcheck // it returns none
	delivery := showing(l, 1, "large")
	delivery.Data = large

	room := f.Opened.Fill(f.T)
	f.wantErr("PutDoc without room", f.PutDoc(f.ctx, f.project, "large", large), store.ErrNoRoom)
	_, err := f.Observe(f.ctx, f.project, []store.Observation{delivery})
	f.wantErr("Observe without room", err, store.ErrNoRoom)
	if err := f.PutDoc(f.ctx, f.project, "small", []byte("small")); err != nil { // it may fit
		f.wantErr("PutDoc of little without room", err, store.ErrNoRoom)
	}
	for range 3 { // the probe itself gives no room
		f.wantErr("Ping after a refusal", f.Ping(f.ctx), store.ErrNoRoom)
	}
	if _, err := f.Link(f.ctx, f.key(l)); err != nil {
		f.Errorf("Link without room: %v", err)
	}

	room()
	f.no("Ping with room again", f.Ping(f.ctx))
	f.no("PutDoc with room again", f.PutDoc(f.ctx, f.project, "large", large))
	f.observe(delivery)
	if c := f.claim(l); !bytes.Equal(c.Inbox[delivery.Item].Data, large) {
		f.Error("the claim has not what was observed")
	}
	f.no("Ping", f.Ping(f.ctx))
}
