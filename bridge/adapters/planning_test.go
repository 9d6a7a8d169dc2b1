package adapters

import (
	"context"
	"errors"
	"testing"

	"planbridge/bridge/planning"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// TestABucketsIDsAreDoubted: the listing of the buckets lacked the id that planning takes, and the
// other one is refused. The next attempt asks for the ids again. Seed 114500005 of the random run
// found that they stayed for ten minutes.
func TestABucketsIDsAreDoubted(t *testing.T) {
	makes := map[string]func(context.Context, *Planning, mapping.ObjectID) error{
		"one card": func(ctx context.Context, p *Planning, bucket mapping.ObjectID) error {
			_, err := p.CreateCard(ctx, bucket, "alice", reconcile.NewItem{Title: "one"})
			return err
		},
		"several": func(ctx context.Context, p *Planning, bucket mapping.ObjectID) error {
			_, err := p.CreateCards(ctx, bucket, []reconcile.BatchItem{{Username: "alice", NewItem: reconcile.NewItem{Title: "one"}}, {Username: "alice", NewItem: reconcile.NewItem{Title: "two"}}})
			return err
		},
	}
	for name, create := range makes {
		t.Run(name, func(t *testing.T) {
			s, err := planningtest.Start(planningtest.Options{Traits: planningtest.Traits{BucketIDsDiffer: true, BucketIDAccepted: planningtest.BucketIDListing}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			project := s.AddProject(planningtest.ProjectSpec{Title: "Web", Secret: "s", Members: []string{"alice"}, Buckets: []string{"Incoming"}})
			c, err := planning.New(planning.Options{BaseURL: s.URL(), Project: mapping.ObjectID(project.ID()), Secret: "s"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			p := NewPlanning(c)
			attempt := func() error {
				ids, err := p.BucketIDs(t.Context(), "Incoming")
				if err != nil {
					t.Fatal(err)
				}
				return create(t.Context(), p, ids[0])
			}
			f := s.Fault(planningtest.Fault{Kind: planningtest.EmptyListing, Op: planningtest.OpBucketList, Times: 1})
			if err := attempt(); !errors.Is(err, mapping.ErrNotFound) || f.Count() != 1 {
				t.Fatalf("the id of the project itself: %v, after %d listings that lacked it", err, f.Count())
			}
			if err := attempt(); err != nil || len(project.Cards()) == 0 {
				t.Errorf("the second attempt: %v, %d cards", err, len(project.Cards()))
			}
		})
	}
}
