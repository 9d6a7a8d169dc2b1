package boltstore

import (
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/storetest"
)

// earlierProject is the project of testdata/schema3.db.gz: 60 links in all states and places,
// written by a program of schema 3.
const earlierProject mapping.ObjectID = "54744060c955ca8169c61ee6"

// earlierFile unpacks that file.
func earlierFile(t *testing.T) string {
	t.Helper()
	packed, err := os.Open("testdata/schema3.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close() //nolint:errcheck // it was read
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRepairIndexesAnEarlierFile: an earlier program's file has no counts until Repair. It can be
// used meanwhile.
func TestRepairIndexesAnEarlierFile(t *testing.T) {
	for _, page := range []int{1, 7, repairPage} {
		seed := rand.Uint64()
		t.Logf("page %d, seed %d", page, seed)
		path := earlierFile(t)
		s := open(t, path, Options{})
		a := &storetest.Anybody{Store: s, Project: earlierProject, Rand: rand.New(rand.NewPCG(seed, 0))}
		links, _, err := s.List(t.Context(), earlierProject, "", 100)
		if err != nil || len(links) != 60 {
			t.Fatalf("List = %d links, %v", len(links), err)
		}
		formed := false
		for pages := 0; !formed; pages++ {
			if got, err := s.Tally(t.Context(), earlierProject); err != nil || got.Links != nil || got.Failures != nil {
				t.Fatalf("Tally before it is repaired = %+v, %v", got, err)
			}
			for range 5 {
				if err := a.Act(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			err := s.in(t.Context(), earlierProject, func(sp space) error {
				defer func() { formed = sp.allIndexed() }()
				return sp.indexSome(page)
			})
			if err != nil || pages > 1000 {
				t.Fatalf("page %d: %v", pages, err)
			}
		}
		if d := storetest.IndexDiff(t.Context(), s, earlierProject); d != "" {
			t.Errorf("page %d, seed %d: %s", page, seed, d)
		}
	}
}

// TestRepairGoesOnWhereItStopped closes a file between two pages.
func TestRepairGoesOnWhereItStopped(t *testing.T) {
	path := earlierFile(t)
	s := open(t, path, Options{})
	for range 2 {
		if err := s.in(t.Context(), earlierProject, func(sp space) error { return sp.indexSome(20) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{})
	for range 2 { // the second has nothing to do
		if err := s.Repair(t.Context(), earlierProject); err != nil {
			t.Fatal(err)
		}
		if d := storetest.IndexDiff(t.Context(), s, earlierProject); d != "" {
			t.Error(d)
		}
	}
	if got, err := s.Tally(t.Context(), earlierProject); err != nil || len(got.Links) != 2 || len(got.Failures) == 0 {
		t.Errorf("Tally = %+v, %v", got, err)
	}
}

// TestATallyVisitsNothing: the cost of Tally does not grow with the store.
func TestATallyVisitsNothing(t *testing.T) {
	cost := map[int]float64{}
	for _, links := range []int{100, 10_000} {
		s := open(t, filepath.Join(t.TempDir(), "store.db"), Options{})
		obs := make([]store.Observation, links)
		for i := range obs {
			l := &mapping.Link{ID: mapping.LinkID(mapping.NewID()), Project: "p", Route: "web", Pair: mapping.Pair{State: mapping.Linked, Issue: mapping.IssueID{ID: int64(i + 1)}}}
			obs[i] = store.Observation{Create: l}
		}
		if _, err := s.Observe(t.Context(), "p", obs); err != nil {
			t.Fatal(err)
		}
		cost[links] = testing.AllocsPerRun(20, func() {
			if got, err := s.Tally(t.Context(), "p"); err != nil || got.Links["web"][mapping.Linked] != links || got.Queued != links {
				t.Fatalf("Tally = %+v, %v", got, err)
			}
		})
	}
	if cost[10_000] > cost[100]+20 {
		t.Errorf("a tally of 10,000 links allocates %v times, one of 100 %v times", cost[10_000], cost[100])
	}
}
