package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// TestMostSevere: of several errors of one claim, one decides how the key comes to rest.
func TestMostSevere(t *testing.T) {
	t.Parallel()
	lost := fmt.Errorf("save: %w", store.ErrLeaseLost)
	epoch := fmt.Errorf("save: %w", store.ErrEpoch)
	broken := &mapping.BrokenError{Invariant: "items", Err: errors.New("twice")}
	large := fmt.Errorf("save: %w", &store.SizeError{})
	failure, soon, late := errors.New("odd"), later(time.Second, "soon"), later(time.Minute, "late")
	public, parked := onGitHub(&publicError{repo: "acme/web"}), parks("untitled")
	for name, c := range map[string]struct {
		errs []error
		want error
	}{
		"none":                    {},
		"none of several":         {errs: []error{nil, nil}},
		"one":                     {[]error{nil, soon}, soon},
		"a failure before a wait": {[]error{soon, failure}, failure},
		"a failure before what only parks the key":  {[]error{parked, public, failure}, failure},
		"a wait before what only parks the key":     {[]error{parked, soon}, soon},
		"a wait before what is withheld":            {[]error{public, soon}, soon},
		"the shorter one of two waits":              {[]error{late, soon}, soon},
		"the first one of two failures":             {[]error{failure, errAway}, failure},
		"the first one of what parks the key":       {[]error{public, parked}, public},
		"a lost lease before a failure":             {[]error{failure, soon, lost}, lost},
		"another epoch before a failure":            {[]error{failure, epoch}, epoch},
		"a broken invariant before a failure":       {[]error{failure, broken}, broken},
		"a record that is too large before failure": {[]error{failure, large}, large},
	} {
		given := slices.Clone(c.errs)
		if got := mostSevere(given); !errors.Is(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestWhatEndsAClaim: some errors of one pair leave the other pairs of its key alone.
func TestWhatEndsAClaim(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		ends bool
	}{
		"none":                                {nil, false},
		"a wait":                              {later(0, "soon"), false},
		"a wait because GitHub is away":       {&requeueAfter{why: errAway.Error()}, false},
		"a refusal":                           {onGitHub(mapping.ErrForbidden), false},
		"an item that is gone":                {errGone, false},
		"what parks the key":                  {parks("untitled"), false},
		"an answer that was lost":             {onPlanning(mapping.ErrUncertain), false},
		"a lost lease":                        {fmt.Errorf("save: %w", store.ErrLeaseLost), true},
		"another epoch":                       {fmt.Errorf("save: %w", store.ErrEpoch), true},
		"a broken invariant":                  {&mapping.BrokenError{Err: errAway}, true},
		"a record that is too large":          {fmt.Errorf("save: %w", &store.SizeError{}), true},
		"a service that wakes the key":        {&blockedOn{"s", "w"}, true},
		"a limit":                             {onGitHub(&mapping.RateLimited{After: 1}), true},
		"a service that is away":              {onGitHub(errAway), true},
		"a token that counts no more":         {onGitHub(mapping.ErrUnauthorized), true},
		"the time of the claim":               {fmt.Errorf("read: %w", ErrOver), true},
		"one of several":                      {nil, true},
		"a failure that nobody has a name of": {errors.New("odd"), false},
	} {
		errs := []error{nil, c.err}
		if name == "one of several" {
			errs = []error{errors.New("odd"), errGone, errAway}
		}
		if got := isTerminal(errs); got != c.ends {
			t.Errorf("%s: ends the claim: %t, want %t", name, got, c.ends)
		}
	}
}

// TestCertain: after some errors it is certain that a create made nothing.
func TestCertain(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		&mapping.RateLimited{After: 1}, &mapping.Rejection{Message: "no"}, mapping.ErrUnavailable, mapping.ErrUnauthorized, mapping.ErrForbidden,
		mapping.ErrNotFound, mapping.ErrGone, &mapping.MovedError{Location: "x"}, &publicError{repo: "acme/web"}, &mapping.StrangerError{Repo: "acme/web"},
	} {
		if !Certain(fmt.Errorf("create: %w", err)) {
			t.Errorf("after %v it may have made something", err)
		}
	}
	for _, err := range []error{mapping.ErrUncertain, ErrOver, errors.New("odd"), &mapping.VersionConflict{}} {
		if Certain(fmt.Errorf("create: %w", err)) {
			t.Errorf("after %v it certainly made nothing", err)
		}
	}
}

// TestRefused: the store may refuse the result of a claim.
func TestRefused(t *testing.T) {
	t.Parallel()
	large := fmt.Errorf("finish: %w", &store.SizeError{})
	verified := mapping.Pending{ID: "p", Side: mapping.GitHub, Item: mapping.IssueRef(7), Attribute: mapping.Title, Answered: true, Verified: true}
	open := verified
	open.ID, open.Verified = "o", false
	for name, c := range map[string]struct {
		err     error
		journal []mapping.Pending
		kind    RestKind
		stored  bool // the link was made smaller
		broken  bool
		left    int
	}{
		"another link has one of its items":            {err: store.ErrConflict, kind: RestFailed},
		"the lease is lost":                            {err: store.ErrLeaseLost, kind: RestLost},
		"it is too large":                              {err: large, kind: RestParked, broken: true},
		"it is too large, with writes that are done":   {err: large, journal: []mapping.Pending{verified}, stored: true},
		"some writes are done, and some are not":       {err: large, journal: []mapping.Pending{verified, open}, stored: true, left: 1},
		"it is too large while writes await an answer": {err: large, journal: []mapping.Pending{open}, kind: RestFailed, left: 1},
		"writes are done, and it is not too large":     {err: store.ErrConflict, journal: []mapping.Pending{verified}, kind: RestFailed, left: 1},
	} {
		w := (&ruleCase{link: func(l *mapping.Link) { l.Pending = c.journal }}).work()
		s := State{Claim: w.claim, Settings: w.set, Process: process{}, Served: true, Now: noon}
		rest, broken := Refused(s, w.link, c.err)
		if (rest == nil) != c.stored || (broken != nil) != c.broken || len(w.link.Pending) != c.left {
			t.Errorf("%s: %+v, %v, %d writes on record; want stored %t, broken %t, %d writes", name, rest, broken, len(w.link.Pending), c.stored, c.broken, c.left)
			continue
		}
		if rest != nil && (rest.Kind != c.kind || rest.Err == nil) {
			t.Errorf("%s: the key rests as %d, %v; want %d", name, rest.Kind, rest.Err, c.kind)
		}
		if broken != nil && broken.Invariant != invariantRecord {
			t.Errorf("%s: the invariant is %s", name, broken.Invariant)
		}
	}
}

// TestResult: the record at the end of a claim is stored, or not.
func TestResult(t *testing.T) {
	t.Parallel()
	sent := func(l *mapping.Link) {
		creating(true)(l)
		l.Children = nil
	}
	fresh := func(l *mapping.Link) { entering(l); l.Children = nil }
	now := noon.Add(time.Hour)
	for name, c := range map[string]struct {
		link          func(*mapping.Link)
		failed        error
		over          bool
		kind          RestKind
		stored, tells bool
	}{
		"it agrees":        {kind: RestAgreed, stored: true, tells: true},
		"it failed":        {failed: errors.New("panic"), kind: RestFailed, stored: true, tells: true},
		"its time is over": {failed: errAway, over: true, kind: RestInTurn, stored: true, tells: true},
		"another link has an item, and nothing was sent": {link: fresh, failed: store.ErrConflict, kind: RestRemoved},
		"another link has an item, and something was":    {link: sent, failed: store.ErrConflict, kind: RestFailed},
		"another link has an item of a pair":             {failed: store.ErrConflict, kind: RestFailed},
		"it broke an invariant: what it did is told":     {failed: &mapping.BrokenError{Invariant: "items", Err: errors.New("twice")}, kind: RestParked, tells: true},
		"it is too large: what it did is told":           {failed: &store.SizeError{}, kind: RestFailed, tells: true},
	} {
		w := (&ruleCase{link: c.link}).work()
		w.history = []mapping.Entry{{What: "write"}}
		w.again = revisit{after: time.Second, why: "soon"}
		res := (&Work{w}).Result(now, c.failed, c.over)
		if res.Rest.Kind != c.kind || (res.Link != nil) != c.stored || (len(res.History) == 1) != c.tells {
			t.Errorf("%s: rest %+v, link stored %t, history %v; want %d, %t, %t", name, res.Rest, res.Link != nil, res.History, c.kind, c.stored, c.tells)
		}
		if agreed := c.kind == RestAgreed; agreed != (res.Rest.After == time.Second) {
			t.Errorf("%s: it is due again after %v", name, res.Rest.After)
		}
		if i := w.pair.Intent; c.over && i != nil && i.Sent && !i.At.Equal(now) {
			t.Errorf("%s: its request was sent at %v", name, i.At)
		}
	}
}

// TestCutOff: a request that was sent may take effect until the claim ended.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		link func(*mapping.Link)
		want []time.Time // of the pairs with an intent
		over bool
	}{
		"no request was made":          {over: true},
		"a request that was not sent":  {link: creating(false), over: true, want: []time.Time{{}}},
		"a request that was sent":      {link: creating(true), over: true, want: []time.Time{noon}},
		"the claim ended in its time":  {link: creating(true), want: []time.Time{{}}},
		"one of a task and one of its": {link: links(creating(true), subIssue(func(p *mapping.Pair) { p.Intent = &mapping.Intent{Sent: true} })), over: true, want: []time.Time{noon, noon}},
	} {
		w := (&ruleCase{link: c.link}).work()
		(&Work{w}).Result(noon, nil, c.over)
		var got []time.Time
		for _, p := range w.link.All() {
			if p.Intent != nil {
				got = append(got, p.Intent.At)
			}
		}
		if !slices.EqualFunc(got, c.want, time.Time.Equal) {
			t.Errorf("%s: requests of %v, want %v", name, got, c.want)
		}
	}
}

// TestRevisit: a finished key may be due again for several reasons.
func TestRevisit(t *testing.T) {
	t.Parallel()
	never, soon, late := revisit{}, revisit{time.Second, "soon"}, revisit{time.Minute, "late"}
	for name, c := range map[string]struct{ a, b, soonest, latest revisit }{
		"never":                 {never, never, never, never},
		"one of them":           {soon, never, soon, soon},
		"the other one of them": {never, soon, soon, soon},
		"both":                  {soon, late, soon, late},
		"both, the other way":   {late, soon, soon, late},
		"at the same time":      {soon, revisit{time.Second, "too"}, soon, soon},
	} {
		if got := c.a.soonest(c.b); got != c.soonest {
			t.Errorf("%s: the soonest is %+v, want %+v", name, got, c.soonest)
		}
		if got := c.a.latest(c.b); got != c.latest {
			t.Errorf("%s: the latest is %+v, want %+v", name, got, c.latest)
		}
	}
}

// TestSpreadOfALimit: keys that wait for one moment do not come at once.
func TestSpreadOfALimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit mapping.RateLimited
		want  time.Duration
		err   bool
	}{
		"a limit of the service":  {mapping.RateLimited{After: time.Minute, Resource: "core"}, 7 * time.Second, true},
		"a budget of ours":        {mapping.RateLimited{After: time.Minute}, 7 * time.Second, false},
		"a turn of its own":       {mapping.RateLimited{After: time.Minute, Turn: true}, 0, false},
		"keys that share request": {mapping.RateLimited{After: time.Minute, Joint: true}, 0, false},
	} {
		if rest := restOf(onGitHub(&c.limit), situation{}); rest.Kind != RestLimited || rest.Spread != c.want || (rest.Err != nil) != c.err || rest.After != time.Minute {
			t.Errorf("%s: %+v, want a spread of %v, an error %t", name, rest, c.want, c.err)
		}
	}
	if d := Jitter(func(n int64) int64 { return n - 1 }, 0); d != 0 {
		t.Errorf("a part of nothing is %v", d)
	}
	if d := Jitter(func(n int64) int64 { return n - 1 }, time.Second); d != time.Second-1 {
		t.Errorf("the largest part of a second is %v", d)
	}
}
