package bridgetest_test

import (
	"net/http"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// chaosSettle is github.settle and planning.settle of the runs. Nothing that
// fate delays takes longer: that is what the two settings promise.
const chaosSettle = 2 * time.Second

// fate lets things go wrong between the bridge and the services.
type fate struct {
	w    *bridgetest.World
	undo []func() // ends each fault that was set

	imports bool // batches break as well
	honest  bool // no listing of planning's lies
}

// stroke is one turn of fate.
type stroke struct {
	*fate
	*turn
}

func (f stroke) upTo(d time.Duration) time.Duration { return time.Duration(f.Int64N(int64(d))) }

func pick[T any](f stroke, of ...T) T { return of[f.IntN(len(of))] }

// githubTraits draws the habits of GitHub that a run keeps.
func (f stroke) githubTraits(t *githubtest.Traits) {
	t.SplitEdits, t.OpenedBare, t.WebCRLF = f.chance(30), f.chance(30), f.chance(30)
	t.EchoBeforeAnswer, t.FormPayload, t.CursorPages = f.chance(40), f.chance(20), f.chance(20)
	t.NoViewer = pick(f, 0, 0, 0, 0, 404, 500)
}

// planningTraits draws the behaviour of the planning service in a run.
func (f stroke) planningTraits(t *planningtest.Traits) {
	t.ConflictStatus = pick(f, 0, 200, 400, 409, 412, 422, 500)
	t.ConflictShape = pick(f, planningtest.ConflictAttributes, planningtest.ConflictItem, planningtest.ConflictCurrent,
		planningtest.ConflictErrors, planningtest.ConflictEmpty, planningtest.ConflictText, planningtest.ConflictArray)
	t.SuccessStatus.Create, t.SuccessStatus.Update = pick(f, 0, 201), pick(f, 0, 200, 204)
	t.EmptySummary = pick(f, planningtest.EmptyString, planningtest.EmptyNull, planningtest.EmptyObject)
	t.HTMLInAnswers = pick(f, planningtest.HTMLOnWrites, planningtest.HTMLAlways, planningtest.HTMLNever)
	t.NormaliseMarkdown, t.SameValueRaisesVersion, t.StateVersionSticks = f.chance(40), f.chance(40), f.chance(30)
	t.CreateEstimateVersion1, t.TaskEditRaisesCardVersion = f.chance(30), f.chance(30)
	t.NumericStrings, t.FloatNumbers, t.BareOIDs = f.chance(20), f.chance(20), f.chance(20)
	t.UnknownFields, t.OmitOptional, t.BucketIDsDiffer = f.chance(30), f.chance(30), f.chance(30)
	t.BucketIDAccepted = pick(f, planningtest.BucketIDBoth, planningtest.BucketIDListing, planningtest.BucketIDState)
}

// strike lets one thing go wrong.
func (f stroke) strike() {
	switch f.IntN(10) {
	case 0, 1, 2, 3:
		f.undone(f.w.GitHub.Fault(f.githubFault()).Remove)
	case 4, 5, 6:
		f.undone(f.w.Planning.Fault(f.planningFault()).Remove)
	case 7:
		f.w.GitHub.SetTraits(f.deliveries)
	case 8:
		f.w.GitHub.SetTraits(func(t *githubtest.Traits) {
			t.StaleReads, t.ListLag = 0, 0
			if f.chance(50) {
				t.StaleReads, t.ListLag = f.upTo(chaosSettle/2), f.upTo(chaosSettle/2)
			}
		})
	default:
		f.w.GitHub.SetLatency(f.upTo(20 * time.Millisecond))
		f.w.Planning.SetLatency(f.upTo(20 * time.Millisecond))
	}
}

// deliveries draws what becomes of webhooks for a while.
func (f stroke) deliveries(t *githubtest.Traits) {
	t.Drop, t.Double, t.Reorder, t.Delay, t.LoseDropped = 0, 0, 0, 0, f.chance(50)
	switch f.IntN(5) {
	case 0:
		t.Drop = 0.5
	case 1:
		t.Double = 0.7
	case 2:
		t.Reorder = chaosSettle / 2
	case 3:
		t.Delay = f.upTo(chaosSettle / 2)
	}
}

func (f stroke) githubFault() githubtest.Fault {
	if f.chance(10) {
		limit := githubtest.SecondaryLimit(time.Second)
		limit.Code = pick(f, http.StatusForbidden, http.StatusTooManyRequests)
		return limit
	}
	return githubtest.Fault{
		Match: pick(f, "", "read", "write", "write", "issue.create", "issue.patch", "issue.patch", "labels.add", "label.remove", "comment.create", "issues.list",
			"subissue.add", "subissues.list", "parent.get"),
		Kind: pick(f, githubtest.Before, githubtest.After, githubtest.Drop, githubtest.DropBefore, githubtest.Delay,
			githubtest.LateEffect, githubtest.Garbage, githubtest.Hollow, githubtest.Truncate),
		Code: pick(f, 0, 500, 502, 503), After: time.Millisecond + f.upTo(chaosSettle/2),
	}
}

func (f stroke) planningFault() planningtest.Fault {
	out := planningtest.Fault{
		Op: pick(f, "", planningtest.OpCardCreate, planningtest.OpCardUpdate, planningtest.OpCardUpdate, planningtest.OpTaskCreate,
			planningtest.OpTaskUpdate, planningtest.OpCardRead, planningtest.OpBacklogItems, planningtest.OpTaskList),
		Kind: pick(f, planningtest.Before, planningtest.After, planningtest.Drop, planningtest.DropBefore, planningtest.Delay,
			planningtest.LateEffect, planningtest.Garbage, planningtest.Truncate, planningtest.EmptyListing, planningtest.HalfListing),
		Status: pick(f, 0, 500, 502, 503), Delay: time.Millisecond + f.upTo(chaosSettle/2),
	}
	lies := out.Kind == planningtest.EmptyListing || out.Kind == planningtest.HalfListing
	switch {
	case f.imports && f.chance(25):
		out.Op, out.Kind, out.N = planningtest.OpCardCreate, planningtest.PartialBatch, 1+f.IntN(4)
	case f.honest && lies:
		out.Kind = planningtest.Delay
	}
	return out
}

// outage takes a service away, or brings both back.
func (f stroke) outage() {
	switch f.IntN(4) {
	case 0:
		f.w.GitHub.Down(true)
	case 1:
		f.w.Planning.Down(true)
	default:
		f.w.GitHub.Down(false)
		f.w.Planning.Down(false)
	}
}

// undone keeps what ends a fault.
func (f *fate) undone(by func()) { f.undo = append(f.undo, by) }

// rest ends everything that goes wrong.
func (f *fate) rest() {
	for _, undo := range f.undo {
		undo()
	}
	f.w.GitHub.BeforeWrite(nil)
	f.w.GitHub.SetLatency(0)
	f.w.Planning.SetLatency(0)
	f.w.GitHub.Down(false)
	f.w.Planning.Down(false)
	f.w.GitHub.SetTraits(func(t *githubtest.Traits) {
		t.Drop, t.Double, t.Reorder, t.Delay, t.StaleReads, t.ListLag = 0, 0, 0, 0, 0, 0
	})
}
