package factlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/factlog"
	"planbridge/mapping"
	"planbridge/store"
)

// page is a log whose clock a test sets.
type page struct {
	*slog.Logger
	text bytes.Buffer
	now  time.Time
}

func newPage() *page {
	p := &page{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	text := slog.NewTextHandler(&p.text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	p.Logger = slog.New(factlog.NewHandler(text, p))
	return p
}

// Now is the page's clock.
func (p *page) Now() time.Time { return p.now }

// lines are what was logged since they were last asked for.
func (p *page) lines() []string {
	defer p.text.Reset()
	return strings.Split(strings.TrimSpace(p.text.String()), "\n")
}

// TestAFactIsAFewLines: an outage of five minutes that is told each second is a line when it
// begins, one a minute, and one when it ends.
func TestAFactIsAFewLines(t *testing.T) {
	t.Parallel()
	p := newPage()
	for range 301 {
		p.Warn("no answer", factlog.Fact, "away", "err", errors.New("timeout"))
		p.now = p.now.Add(time.Second)
	}
	p.Info("answers", factlog.Over, "away")
	p.Info("answers", factlog.Over, "away")
	p.now = p.now.Add(time.Minute)
	p.Info("answers", factlog.Over, "away")
	want := []string{`level=WARN msg="no answer" fact=away err=timeout`}
	for minute := range 5 {
		want = append(want, fmt.Sprintf(`level=WARN msg="no answer" fact=away err=timeout times=60 lasts=%dm0s`, minute+1))
	}
	want = append(want, `level=INFO msg=answers over=away lasts=5m1s`)
	if got := p.lines(); !slices.Equal(got, want) {
		t.Errorf("logged\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	p.Warn("no answer", factlog.Fact, "away")
	if got := p.lines(); len(got) != 1 || got[0] == "" {
		t.Errorf("a fact that begins anew is logged as %q", got)
	}
}

// TestAFactThatFlaps: a service that answers some requests and fails others is one fact, though
// each answer ends it. It is over once it stayed away for a minute.
func TestAFactThatFlaps(t *testing.T) {
	t.Parallel()
	p := newPage()
	for range 65 {
		p.Warn("no answer", factlog.Fact, "away")
		p.now = p.now.Add(time.Second)
		p.Info("answers", factlog.Over, "away")
		p.Info("answers", factlog.Over, "away")
		p.now = p.now.Add(time.Second)
	}
	const begins, ends = `level=WARN msg="no answer" fact=away`, `level=INFO msg=answers over=away`
	want := []string{begins, begins + ` times=30 lasts=1m0s`, begins + ` times=30 lasts=2m0s`}
	if got := p.lines(); !slices.Equal(got, want) {
		t.Errorf("while it flaps the log says\n%s", strings.Join(got, "\n"))
	}
	for range 70 {
		p.now = p.now.Add(time.Second)
		p.Info("answers", factlog.Over, "away")
	}
	if got, want := p.lines(), []string{ends + ` lasts=2m9s times=4`}; !slices.Equal(got, want) {
		t.Errorf("once it stays away the log says\n%s", strings.Join(got, "\n"))
	}
	p.Warn("no answer", factlog.Fact, "away")
	p.Info("answers", factlog.Over, "away")
	p.now = p.now.Add(time.Minute)
	p.Warn("no answer", factlog.Fact, "away")
	factlog.Flush(t.Context(), p.Logger)
	if got, want := p.lines(), []string{begins, ends + ` lasts=0s`, begins}; !slices.Equal(got, want) {
		t.Errorf("a fact that begins anew after a minute is\n%s", strings.Join(got, "\n"))
	}
	p.Info("answers", factlog.Over, "away")
	factlog.Flush(t.Context(), p.Logger)
	factlog.Flush(t.Context(), p.Logger)
	if got, want := p.lines(), []string{ends + ` lasts=0s`}; !slices.Equal(got, want) {
		t.Errorf("at the end of the process the log says\n%s", strings.Join(got, "\n"))
	}
}

// TestFactsHaveScopes: an outage of one project does not hide that of another, nor end it.
func TestFactsHaveScopes(t *testing.T) {
	t.Parallel()
	p := newPage()
	web, api := p.With("project", "web"), p.With("project", "api")
	web.Warn("no answer", factlog.Fact, "away")
	api.Warn("no answer", factlog.Fact, "away")
	api.Info("answers", factlog.Over, "away")
	web.Warn("no answer", factlog.Fact, "away")
	p.now = p.now.Add(time.Second)
	web.Info("answers", factlog.Over, "away")
	factlog.Flush(t.Context(), p.Logger)
	want := []string{
		`level=WARN msg="no answer" project=web fact=away`, `level=WARN msg="no answer" project=api fact=away`,
		`level=INFO msg=answers project=api over=away lasts=0s`, `level=INFO msg=answers project=web over=away lasts=1s times=1`,
	}
	if got := p.lines(); !slices.Equal(got, want) {
		t.Errorf("logged\n%s", strings.Join(got, "\n"))
	}
}

// TestFailuresAreGroupedByReason: a thousand items that fail alike are a line at once and one after
// a minute. Another reason, another value and an item's history have lines of their own.
func TestFailuresAreGroupedByReason(t *testing.T) {
	t.Parallel()
	p := newPage()
	for i := range 1000 {
		p.With("link", fmt.Sprintf("%016x", i), "route", fmt.Sprint("r", i%3)).Warn("to be tried again", "after", time.Duration(i)*time.Millisecond, "err", fmt.Errorf("card acme/web#%d: status 503", i))
	}
	p.Warn("to be tried again", "link", "x", "err", errors.New("refused"))
	p.Warn("route is paused", "route", "a")
	p.Warn("route is paused", "route", "b")
	p.Info("written", "link", "x")
	p.Info("written", "link", "x")
	got := p.lines()
	want := []string{
		`level=WARN msg="to be tried again" link=0000000000000000 route=r0 after=0s err="card acme/web#0: status 503"`,
		`level=WARN msg="to be tried again" link=x err=refused`,
		`level=WARN msg="route is paused" route=a`, `level=WARN msg="route is paused" route=b`,
		`level=INFO msg=written link=x`, `level=INFO msg=written link=x`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("logged\n%s", strings.Join(got, "\n"))
	}
	p.now = p.now.Add(time.Minute)
	p.Info("something else") // any line lets what was withheld be told
	if got := p.lines(); len(got) != 2 || !strings.Contains(got[0], "times=999") || !strings.Contains(got[0], "after=999ms") {
		t.Errorf("after a minute:\n%s", strings.Join(got, "\n"))
	}
}

// TestFailuresOfManyRepositoriesAreGrouped: the same failure in 200 repositories is one line.
func TestFailuresOfManyRepositoriesAreGrouped(t *testing.T) {
	t.Parallel()
	p := newPage()
	for i := range 200 {
		repo := fmt.Sprintf("acme/site-%d", i)
		p.Warn("cannot be shown", "link", fmt.Sprintf("%016x", i), "what", "labels in "+repo, "err", fmt.Errorf("add labels %s#7: forbidden", repo))
		p.Warn("a label goes without its colour", "link", fmt.Sprintf("%016x", i), "label", "bucket:"+repo, "err", fmt.Errorf("read label %s: forbidden", repo))
	}
	if got := p.lines(); len(got) != 2 {
		t.Errorf("logged\n%s", strings.Join(got, "\n"))
	}
}

// TestDurationsHaveOneForm in a line and in what it is logged with.
func TestDurationsHaveOneForm(t *testing.T) {
	t.Parallel()
	p := newPage()
	p.With("wait", 1500*time.Millisecond).Info("waits", "after", 2*time.Second+123456*time.Nanosecond)
	if got := p.lines(); got[0] != `level=INFO msg=waits wait=1.5s after=2s` {
		t.Errorf("logged %s", got[0])
	}
}

// TestAHandlerIsWrappedOnce, so that each layer of a program may do it.
func TestAHandlerIsWrappedOnce(t *testing.T) {
	t.Parallel()
	h := factlog.NewHandler(slog.DiscardHandler, clock.Runtime{})
	if again := factlog.NewHandler(h, clock.Runtime{}); again != h {
		t.Error("the handler is wrapped twice")
	}
}

// TestAnew: lines about an operator's change are written anew, and lasting facts go on.
func TestAnew(t *testing.T) {
	t.Parallel()
	p := newPage()
	say := func() {
		p.Warn("a secret is weak", "key", "token")
		p.Warn("no answer", factlog.Fact, "away")
	}
	say()
	say()
	p.lines()
	factlog.Anew(t.Context(), p.Logger)
	say()
	want := []string{`level=WARN msg="a secret is weak" key=token times=1 lasts=0s`, `level=WARN msg="a secret is weak" key=token`}
	if got := p.lines(); !slices.Equal(got, want) {
		t.Errorf("logged\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestEnd: each fact of a service ends by one line at once, and those of another one go on.
func TestEnd(t *testing.T) {
	t.Parallel()
	p := newPage()
	of := func(project string) *slog.Logger {
		return p.With("project", project, "service", "planning:"+project)
	}
	of("a").Warn("no answer", factlog.Fact, factlog.Away)
	p.now = p.now.Add(time.Second)
	of("a").Warn("no answer", factlog.Fact, factlog.Away)
	of("a").Warn("poll", factlog.Fact, "not polled")
	of("b").Warn("no answer", factlog.Fact, factlog.Away)
	p.now = p.now.Add(time.Second)
	p.lines()
	factlog.End(t.Context(), p.With("project", "a"), "planning:a", "not named")
	factlog.End(t.Context(), p.With("project", "a"), "planning:a", "not named")
	of("a").Info("polled", factlog.Over, "not polled")
	of("b").Info("answers", factlog.Over, factlog.Away)
	want := []string{
		`level=INFO msg="not named" project=a service=planning:a over="not polled" lasts=1s`,
		`level=INFO msg="not named" project=a service=planning:a over="requests to a service fail" lasts=2s times=1`,
	}
	got := p.lines()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("logged\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	factlog.Flush(t.Context(), p.Logger)
	if got, want := p.lines(), []string{`level=INFO msg=answers project=b service=planning:b over="requests to a service fail" lasts=1s`}; !slices.Equal(got, want) {
		t.Errorf("then it logged %q, not %q", got, want)
	}
}

// TestAnErrorIsOfAFact: a line about a store that is away, or a limit of GitHub, belongs to that
// fact, though it names another one.
func TestAnErrorIsOfAFact(t *testing.T) {
	t.Parallel()
	p := newPage()
	away := fmt.Errorf("claim: %w", store.ErrAway)
	limit := fmt.Errorf("read: %w", &mapping.RateLimited{API: "github", After: time.Second, Why: "primary limit", Resource: "core"})
	turn := &mapping.RateLimited{API: "github", After: time.Second, Why: "write budget", Turn: true}
	p.Warn("claiming", "project", "p1", "err", away)
	p.Warn("poll", "project", "p2", "err", away, factlog.Fact, "a project is not polled")
	p.Warn("catch up", "service", "github", "err", limit, factlog.Fact, "GitHub is not listed")
	p.Warn("limit", "resource", "core", factlog.Fact, factlog.Limited)
	p.Warn("put off", "err", turn)
	p.Info("the store answers", factlog.Over, factlog.StoreAway)
	p.Info("GitHub answers", "resource", "core", factlog.Over, factlog.Limited)
	factlog.Flush(t.Context(), p.Logger)
	want := []string{
		`level=WARN msg=claiming project=p1 err="claim: the store is away" fact="the store is away"`,
		`level=WARN msg="catch up" service=github err="read: github: rate limited (primary limit), retry after 1s" resource=core fact="GitHub limits requests"`,
		`level=WARN msg="put off" err="github: rate limited (write budget), retry after 1s"`,
		`level=INFO msg="the store answers" over="the store is away" lasts=0s times=1`,
		`level=INFO msg="GitHub answers" resource=core over="GitHub limits requests" lasts=0s times=1`,
	}
	if got := p.lines(); !slices.Equal(got, want) {
		t.Errorf("logged\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestAnAnswerIsOfAFact: a secret that is refused needs people, a service that is away does not.
func TestAnAnswerIsOfAFact(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err   error
		level slog.Level
		fact  string
	}{
		{fmt.Errorf("poll: %w", mapping.ErrUnauthorized), slog.LevelError, factlog.Refused},
		{fmt.Errorf("poll: %w", mapping.ErrUnavailable), slog.LevelWarn, factlog.Away},
		{mapping.ErrNotFound, slog.LevelWarn, "its own"},
		{nil, slog.LevelInfo, "its own"},
	} {
		if level, fact := factlog.Answer(tt.err, "its own"); level != tt.level || fact != tt.fact {
			t.Errorf("%v is %s of %q, want %s of %q", tt.err, level, fact, tt.level, tt.fact)
		}
	}
}

// TestKeysThatWaitForTheirTurn: nothing says that no key waits for its turn any more. The fact
// ends when none has for ten minutes.
func TestKeysThatWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	p := newPage()
	for range 3 {
		p.Info("put off", "link", "l1", factlog.Fact, factlog.InTurn)
		p.now = p.now.Add(time.Minute)
	}
	p.now = p.now.Add(10 * time.Minute)
	p.Info("something else")
	want := []string{
		`level=INFO msg="put off" link=l1 fact="keys wait for their turn"`,
		`level=INFO msg="put off" link=l1 fact="keys wait for their turn" times=1 lasts=1m0s`,
		`level=INFO msg="put off" link=l1 fact="keys wait for their turn" times=1 lasts=2m0s`,
		`level=INFO msg="keys wait no more for their turn" over="keys wait for their turn" lasts=2m0s`,
		`level=INFO msg="something else"`,
	}
	if got := p.lines(); !slices.Equal(got, want) {
		t.Errorf("logged\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
