package randomtest_test

import (
	"net/http"
	"strconv"
	"strings"
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
	w *bridgetest.World
	*diary
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
	t.Validators, t.Gzip = pick(f, "", planningtest.StrongETag, planningtest.WeakETag, planningtest.LastModified), f.chance(50)
}

// strike lets one thing go wrong.
func (f stroke) strike() {
	switch f.IntN(10) {
	case 0, 1, 2, 3:
		fault := f.githubFault()
		f.did(do("github", "fault", fault.Match, fault.Kind).and("after", fault.After.String()).and("code", strconv.Itoa(fault.Code)), "fate: GitHub's next %q: %s, %s, %d", fault.Match, fault.Kind, fault.After, fault.Code)
		f.undone(f.w.GitHub.Fault(fault).Remove)
	case 4, 5, 6:
		fault := f.planningFault()
		f.did(do("planning", "fault", fault.Op, fault.Kind).and("delay", fault.Delay.String()).and("status", strconv.Itoa(fault.Status)), "fate: planning's next %q: %s, %s, %d", fault.Op, fault.Kind, fault.Delay, fault.Status)
		f.undone(f.w.Planning.Fault(fault).Remove)
	case 7:
		f.habits(f.deliveries)
	case 8:
		f.habits(func(t *githubtest.Traits) {
			t.StaleReads, t.ListLag = 0, 0
			if f.chance(50) {
				t.StaleReads, t.ListLag = f.upTo(chaosSettle/2), f.upTo(chaosSettle/2)
			}
		})
	default:
		f.slowGitHub(f.upTo(20 * time.Millisecond))
		f.slowPlanning(f.upTo(20 * time.Millisecond))
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
		f.did(do("github", "down"), "fate: GitHub is down")
		f.w.GitHub.Down(true)
	case 1:
		f.did(do("planning", "down"), "fate: planning is down")
		f.w.Planning.Down(true)
	default:
		f.up()
	}
}

// up ends outages.
func (f *fate) up() {
	f.did(do("github", "up"), "fate: GitHub is up")
	f.did(do("planning", "up"), "fate: planning is up")
	f.w.GitHub.Down(false)
	f.w.Planning.Down(false)
}

// habits changes GitHub's traits.
func (f *fate) habits(change func(*githubtest.Traits)) {
	f.w.GitHub.SetTraits(func(t *githubtest.Traits) {
		was := *t
		change(t)
		if now := changes(was, *t); len(now) > 0 {
			f.did(do("github", "traits").with(now...), "fate: GitHub from now on: %s", strings.Join(now, " "))
		}
	})
}

// slowGitHub and slowPlanning say how long each answer of a service takes.
func (f *fate) slowGitHub(d time.Duration) {
	f.did(do("github", "latency", d), "fate: each of GitHub's answers takes %s", d)
	f.w.GitHub.SetLatency(d)
}

func (f *fate) slowPlanning(d time.Duration) {
	f.did(do("planning", "latency", d), "fate: each of planning's answers takes %s", d)
	f.w.Planning.SetLatency(d)
}

// undone keeps what ends a fault.
func (f *fate) undone(by func()) { f.undo = append(f.undo, by) }

// rest ends everything that goes wrong.
func (f *fate) rest() {
	for _, undo := range f.undo {
		undo()
	}
	f.w.GitHub.BeforeWrite(nil)
	f.slowGitHub(0)
	f.slowPlanning(0)
	f.up()
	f.habits(func(t *githubtest.Traits) {
		t.Drop, t.Double, t.Reorder, t.Delay, t.StaleReads, t.ListLag = 0, 0, 0, 0, 0, 0
	})
}
