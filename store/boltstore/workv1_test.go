package boltstore

import (
	"errors"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"planbridge/mapping"
	"planbridge/store"
)

// A file of schema 1 keeps its waiting work when it is taken over, and then has the newest
// schema.
func TestAFileOfSchema1(t *testing.T) {
	path := t.TempDir() + "/planbridge.db"
	s := open(t, path, Options{})
	l := &mapping.Link{ID: "l1", Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 1}}}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Refs: l.Refs(), Create: l}}); err != nil {
		t.Fatal(err)
	}
	err := s.db.Update(func(tx *bbolt.Tx) error {
		p := tx.Bucket([]byte("p:p"))
		k, _ := p.Bucket([]byte("queue")).Cursor().First()
		return errors.Join(
			tx.Bucket(bucketMeta).Put(metaSchema, []byte("1")), p.DeleteBucket([]byte("events")),
			p.Bucket([]byte("queue")).Delete(k), p.Bucket([]byte("queue")).Put([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x07l1"), nil),
			p.Bucket([]byte("work")).Put([]byte("l1"), []byte(`{"g":3,"p":1,"d":7,"i":{"issue:1":{"g":2,"at":5,"d":"x","b":"aGVsbG8=","s":1}},"e":[{"g":1,"b":"d29ybGQ="}]}`)),
		)
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{})
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Refs: l.Refs(), Event: []byte("new")}}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // again after its lease has ended, as a crash leaves it
		c, _, err := s.Claim(t.Context(), "p", time.Nanosecond)
		if err != nil || c == nil {
			t.Fatalf("Claim = %v, %v", c, err)
		}
		if len(c.Events) != 2 || string(c.Events[0]) != "world" || string(c.Events[1]) != "new" || string(c.Inbox["issue:1"].Data) != "hello" {
			t.Errorf("the claim carries %q and %+v", c.Events, c.Inbox)
		}
	}
	if err := s.db.View(func(tx *bbolt.Tx) error {
		if v := tx.Bucket(bucketMeta).Get(metaSchema); string(v) != "4" {
			t.Errorf("schema %s", v)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
