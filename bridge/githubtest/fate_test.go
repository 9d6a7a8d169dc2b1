package githubtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func (w *world) create(title string) result {
	return w.do("POST", "/repos/acme/web/issues", fields{"title": title})
}

func TestEveryKindOfFault(t *testing.T) {
	for _, x := range []struct {
		fault   Fault
		status  int // of the answer; 0: none
		effect  int // issues made
		journal int // status in the journal
	}{
		{Fault{Kind: Before}, 500, 0, 500},
		{Fault{Kind: Before, Code: 503}, 503, 0, 503},
		{Fault{Kind: After}, 502, 1, 502},
		{Fault{Kind: Drop}, 0, 1, 0},
		{Fault{Kind: DropBefore}, 0, 0, 0},
		{Fault{Kind: Delay, After: time.Millisecond}, 201, 1, 201},
		{Fault{Kind: Status, Code: 418, Body: `{"message":"tea"}`}, 418, 0, 418},
		{Fault{Kind: Garbage}, 201, 1, 201},
		{Fault{Kind: Hollow}, 201, 1, 201},
		{Fault{Kind: Truncate}, 201, 1, 201},
	} {
		t.Run(fmt.Sprint(x.fault.Kind, x.fault.Code), func(t *testing.T) {
			w := newWorld(t, Options{})
			x.fault.Match = "issue.create"
			h := w.s.Fault(x.fault)
			w.get("/user").want(200)
			got := w.create("one")
			equal(t, "status", got.status, x.status)
			equal(t, "effect", len(w.r.Issues()), x.effect)
			calls := w.s.Journal()
			last := calls[len(calls)-1]
			equal(t, "journal", []any{last.Op, last.Status, last.Fault}, []any{"issue.create", x.journal, x.fault.Kind})
			equal(t, "hits", h.Count(), 1)
			switch x.fault.Kind {
			case Garbage:
				equal(t, "HTML", got.header.Get("Content-Type"), "text/html")
			case Hollow:
				equal(t, "body", string(got.raw), "{}")
			case Truncate:
				if got.err == nil {
					t.Errorf("whole: %s", got.raw)
				}
			case Status:
				equal(t, "body", got.obj()["message"], "tea")
			}
			w.create("two").want(201) // once only
		})
	}
}

func TestLateEffect(t *testing.T) {
	w := newWorld(t, Options{})
	w.s.Fault(Fault{Kind: LateEffect, Match: "write", After: 5 * time.Millisecond})
	w.create("late").want(504)
	if err := w.s.Wait(deadline(t), func(*Server) bool { return len(w.r.Issues()) == 1 }); err != nil {
		t.Fatal(err)
	}
	w.idle()
	equal(t, "journal", []any{w.s.Calls("issue.create"), w.s.Journal()[0].Status}, []any{1, 504})
}

func TestHeldUntilReleased(t *testing.T) {
	w := newWorld(t, Options{})
	late := w.s.Fault(Fault{Kind: LateEffect, Match: "issue.create"})
	w.create("late").want(504)
	equal(t, "issues", len(w.r.Issues()), 0)
	late.Release()
	w.idle()
	equal(t, "issues", len(w.r.Issues()), 1)

	held, before, waited := w.s.Fault(Fault{Kind: Delay, Match: "issue.create"}), 0, make(chan error, 1)
	go func() {
		err := w.s.Wait(deadline(t), func(*Server) bool { return held.Count() == 1 })
		before = len(w.r.Issues())
		held.Release()
		held.Release()
		waited <- err
	}()
	w.create("held").want(201)
	equal(t, "wait", <-waited, nil)
	equal(t, "issues while it was held", before, 1)
	equal(t, "issues", len(w.r.Issues()), 2)
}

func TestFaultsMatchTimesAndRemove(t *testing.T) {
	w := newWorld(t, Options{})
	w.open("one")
	reads := w.s.Fault(Fault{Kind: Before, Match: "read", Times: 2})
	w.get("/user").want(500)
	w.create("writes go through").want(201)
	w.get("/user").want(500)
	w.get("/user").want(200)
	equal(t, "count", reads.Count(), 2)

	labels := w.s.Fault(Fault{Kind: Before, Match: "label*", Times: -1})
	w.get("/repos/acme/web/issues/1/labels").want(500)
	w.do("DELETE", "/repos/acme/web/issues/1/labels/x", nil).want(500)
	w.get("/repos/acme/web/issues/1").want(200)
	labels.Remove()
	w.get("/repos/acme/web/issues/1/labels").want(200)

	second := w.s.Fault(Fault{Kind: Before, Times: -1, When: func(c Call) bool { return c.Number == 2 }})
	w.get("/repos/acme/web/issues/1").want(200)
	w.get("/repos/acme/web/issues/2").want(500)
	second.Remove()
	w.get("/repos/acme/web/issues/2").want(200)
}

func TestFormsOfRateLimits(t *testing.T) {
	w := newWorld(t, Options{})
	reset := w.s.Now().Add(time.Hour)
	w.s.Fault(PrimaryLimit(reset))
	for range 2 {
		got := w.get("/user").want(403)
		equal(t, "primary", []string{got.header.Get("X-RateLimit-Remaining"), got.header.Get("X-RateLimit-Reset")},
			[]string{"0", fmt.Sprint(reset.Unix())})
	}
	w.s.Advance(time.Hour)
	w.get("/user").want(200)
	w.s.Fault(SecondaryLimit(1500 * time.Millisecond))
	equal(t, "secondary", w.get("/user").want(403).header.Get("Retry-After"), "2")
	w.s.Fault(SecondaryNoHeader())
	bare := w.get("/user").want(403)
	equal(t, "no header", []string{bare.header.Get("Retry-After"), bare.header.Get("X-RateLimit-Remaining")}, []string{"", ""})
	w.s.Fault(TooMany429())
	equal(t, "429", w.get("/user").want(429).header.Get("Retry-After"), "60")
	w.open("parent")
	w.open("child")
	w.s.Fault(PriorityTaken())
	add := func() result {
		return w.do("POST", "/repos/acme/web/issues/1/sub_issues", fields{"sub_issue_id": w.r.Issue(2).ID})
	}
	add().want(422)
	add().want(201)
}

func TestDownAndUp(t *testing.T) {
	w := newWorld(t, Options{})
	w.s.Down(true)
	if got := w.get("/user"); got.err == nil {
		t.Errorf("answered %d", got.status)
	}
	w.s.Down(false)
	w.get("/user").want(200)
	equal(t, "journal", w.s.Calls(), 1)
}

func TestLatency(t *testing.T) {
	w := newWorld(t, Options{})
	w.s.SetLatency(10 * time.Millisecond)
	start := time.Now()
	w.get("/user").want(200)
	if d := time.Since(start); d < 10*time.Millisecond {
		t.Errorf("after %s", d)
	}
}

func TestAPersonRacesAWrite(t *testing.T) {
	w := newWorld(t, Options{}).hooked()
	n := w.open("one")
	w.events()
	w.s.BeforeWrite(func(op, repo string, number int) {
		equal(t, "what", []any{op, repo, number}, []any{"issue.patch", "acme/web", n})
		w.r.Edit(n, "alice", func(e *IssueEdit) { e.Title = "by alice" })
	})
	w.get("/repos/acme/web/issues/1").want(200)
	w.do("PATCH", "/repos/acme/web/issues/1", fields{"title": "by the bot"}).want(200)
	got := w.expect("issues.edited", "issues.edited")
	equal(t, "overwritten", got[1].at("changes", "title", "from"), "by alice")
	equal(t, "last write wins", w.r.Issue(n).Title, "by the bot")
	w.s.BeforeWrite(nil)
	w.do("PATCH", "/repos/acme/web/issues/1", fields{"title": "again"}).want(200)
	equal(t, "no more", len(w.r.History(n, "title")), 4)
}

func TestStaleReads(t *testing.T) {
	w := newWorld(t, Options{})
	n := w.open("one")
	w.r.Edit(n, "bob", func(e *IssueEdit) { e.Title = "two" })
	title := func() any { return w.get("/repos/acme/web/issues/1").want(200).obj()["title"] }
	w.r.StaleReads(n, 2)
	equal(t, "reads", []any{title(), title(), title()}, []any{"one", "one", "two"})
	w.s.SetTraits(func(x *Traits) { x.StaleReads = time.Hour })
	w.get("/repos/acme/web/issues/1").want(404) // did not exist an hour ago
	w.s.Advance(61 * time.Minute)
	equal(t, "ripe", title(), "two")
	w.r.Edit(n, "bob", func(e *IssueEdit) { e.Title = "three" })
	equal(t, "an hour behind", title(), "two")
	w.s.Advance(time.Hour)
	equal(t, "ripe again", title(), "three")
}

func TestListsLagAndFreeze(t *testing.T) {
	w := newWorld(t, Options{})
	titles := func() []any { return w.get("/repos/acme/web/issues?direction=asc").want(200).list("title") }
	w.open("one")
	w.s.Advance(2 * time.Minute)
	w.s.SetTraits(func(x *Traits) { x.ListLag = time.Minute })
	w.r.Edit(1, "bob", func(e *IssueEdit) { e.Title = "uno" })
	w.open("two")
	equal(t, "a minute behind", titles(), []string{"one"})
	equal(t, "reads do not lag", w.get("/repos/acme/web/issues/1").want(200).obj()["title"], "uno")
	w.s.Advance(time.Minute)
	equal(t, "caught up", titles(), []string{"uno", "two"})
	w.s.SetTraits(func(x *Traits) { x.StaleList = true })
	w.s.Advance(time.Hour)
	w.open("three")
	equal(t, "frozen", titles(), []string{"uno", "two"})
	w.s.SetTraits(func(x *Traits) { x.StaleList, x.ListLag = false, 0 })
	equal(t, "thawed", titles(), []string{"uno", "two", "three"})
}

func TestJournal(t *testing.T) {
	w := newWorld(t, Options{})
	w.create("one").want(201)
	w.get("/repos/acme/web/issues/1?x=1").want(200)
	w.do("POST", "/repos/acme/web/issues/1/comments", fields{"body": "hi"}).want(201)
	calls := w.s.Journal()
	c := calls[1]
	equal(t, "call", []any{c.Seq, c.Method, c.Path, c.Op, c.Repo, c.Number, c.Status, c.Login},
		[]any{2, "GET", "/repos/acme/web/issues/1?x=1", "issue.get", "acme/web", 1, 200, bot})
	equal(t, "body", calls[2].Body, `{"body":"hi"}`)
	equal(t, "number of a create", calls[0].Number, 1)
	equal(t, "counts", []int{w.s.Calls(), w.s.Calls("issue.get", "comment.create"), w.s.Writes()}, []int{3, 2, 2})
	w.s.ResetJournal()
	equal(t, "reset", w.s.Calls(), 0)
}

func TestDateIsTheServersClock(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := newWorld(t, Options{Clock: func() time.Time { return at }})
	w.s.Advance(time.Hour)
	equal(t, "Date", w.get("/user").want(200).header.Get("Date"), at.Add(time.Hour).Format(http.TimeFormat))
	w.s.Fault(Fault{Kind: Before})
	equal(t, "of a fault", w.get("/user").want(500).header.Get("Date"), at.Add(time.Hour).Format(http.TimeFormat))
}

func TestWaitEndsWithItsContext(t *testing.T) {
	w := newWorld(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.s.Wait(ctx, func(*Server) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestCloseTwiceAndStartOnATakenAddress(t *testing.T) {
	w := newWorld(t, Options{})
	if _, err := Start(Options{Addr: strings.TrimPrefix(w.s.host, "http://")}); err == nil {
		t.Error("started twice on one address")
	}
	w.s.Close()
	w.s.Close()
}

func TestManyActAtOnce(t *testing.T) {
	w := newWorld(t, Options{}).hooked("issues")
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for k := range 5 {
				number := w.open(fmt.Sprintf("%d.%d", n, k))
				w.do("PATCH", fmt.Sprintf("/repos/acme/web/issues/%d", number), fields{"body": "x"}).want(200)
				w.get("/repos/acme/web/issues").want(200)
				w.s.Deliveries()
				w.s.Journal()
			}
		})
	}
	all.Wait()
	equal(t, "issues", len(w.r.Issues()), 40)
	equal(t, "webhooks", len(w.events()), 80)
}
