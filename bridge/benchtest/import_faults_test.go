package benchtest_test

import (
	"net/http"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping/mappingtest"
)

// old makes issues that are older than the bridge, and starts it.
func old(w *bridgetest.TestWorld, issues int) {
	w.T.Helper()
	w.OpenMany(issues)
	time.Sleep(time.Hour)
	if err := w.StartBridge(); err != nil {
		w.T.Fatal(err)
	}
	time.Sleep(time.Minute)
}

// TestImportBatchFaults: whichever fault a batch meets, each issue gets one card. What is looked for
// is looked for together. No poll tells what became of it.
func TestImportBatchFaults(t *testing.T) {
	const issues = 120
	fault := func(f planningtest.Fault) func(*bridgetest.TestWorld) {
		f.Op = planningtest.OpCardCreate
		return func(w *bridgetest.TestWorld) { w.Planning.Fault(f) }
	}
	isDrawn := mappingtest.DrawWorlds(mappingtest.Worlds)
	for name, tt := range map[string]struct {
		wrong func(*bridgetest.TestWorld)
		calls int // creates at most
	}{
		"all is well":      {func(*bridgetest.TestWorld) {}, 4},
		"lost answer":      {fault(planningtest.Fault{Kind: planningtest.Drop, Times: 2}), 6},
		"lost request":     {fault(planningtest.Fault{Kind: planningtest.DropBefore}), 6},
		"partly":           {fault(planningtest.Fault{Kind: planningtest.PartialBatch, N: 30}), 6},
		"partly refused":   {fault(planningtest.Fault{Kind: planningtest.PartialBatch, N: 30, Status: http.StatusBadRequest}), 14},
		"garbage":          {fault(planningtest.Fault{Kind: planningtest.Garbage}), 5},
		"truncated":        {fault(planningtest.Fault{Kind: planningtest.Truncate}), 5},
		"late":             {fault(planningtest.Fault{Kind: planningtest.LateEffect, Delay: 300 * time.Millisecond}), 6},
		"no large batches": {func(w *bridgetest.TestWorld) { w.Planning.SetTraits(func(t *planningtest.Traits) { t.MaxBatch = 10 }) }, 25},
	} {
		if !isDrawn() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			o := bridgetest.Options{Poll: 24 * time.Hour}
			o.Planning.Traits.BatchOrder = planningtest.BatchShuffled
			virtually(t, o, func(w *bridgetest.TestWorld) {
				old(w, issues)
				w.Planning.ResetJournal()
				tt.wrong(w)
				if job := w.FinishJob(w.BeginImport(status.ImportAsk{})); job.Done != issues || job.Import.Failed > 0 {
					w.T.Errorf("job %+v, %+v", job, job.Import)
				}
				w.CheckPartners(issues)
				if got := w.Planning.Calls(planningtest.OpCardCreate); got > tt.calls {
					w.T.Errorf("%d calls made %d cards, want %d at most", got, issues, tt.calls)
				}
				if got := w.Planning.Calls(planningtest.OpBacklogItems); got > 12 {
					w.T.Errorf("%d complete lookups", got)
				}
			})
		})
	}
}
