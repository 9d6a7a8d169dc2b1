// Package main: this file is laid over cmd/planbridge by fault_test.go, and is in
// no other build.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"planbridge/bridge"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
	"planbridge/store/redisstore"
)

// newFaulty is bridge.New with a store on which the work on one issue has an effect that no program
// should have. PLANBRIDGE_TEST_FAULT is "exit acme/web#2" or "spin acme/web#2".
func newFaulty(o bridge.Options) (*bridge.App, error) {
	var s store.Store
	var err error
	if path, ok := o.Config.Store.File(); ok {
		s, err = boltstore.Open(path, boltstore.Options{})
	} else {
		s, err = redisstore.Open(context.Background(), redisstore.Options{URL: o.Config.Store.URL, Prefix: o.Config.Store.Prefix})
	}
	if err != nil {
		return nil, err
	}
	kind, where, _ := strings.Cut(os.Getenv("PLANBRIDGE_TEST_FAULT"), " ")
	o.Store = &faultyStore{Store: s, kind: kind, where: where}
	return bridge.New(o)
}

type faultyStore struct {
	store.Store
	kind, where string
}

func (s *faultyStore) Save(ctx context.Context, c *store.Claim, l *mapping.Link) error {
	if fmt.Sprintf("%s#%d", l.Issue.Repo, l.Issue.Number) == s.where {
		switch s.kind {
		case "exit":
			os.Exit(3)
		case "spin":
			fmt.Fprintln(os.Stderr, "it spins")
			for n := 1; n != 0; n += 2 { // a pure function that ignores the context
			}
		}
	}
	return s.Store.Save(ctx, c, l)
}
