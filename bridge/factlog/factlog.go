// Package factlog keeps a log to one line for one fact.
//
// [NewHandler] wraps a [slog.Handler]. A line with the attribute [Fact] is about something that
// lasts, such as an outage: it is written when the fact begins, and once a minute while such lines
// come. A line with the attribute [Over] ends a fact and is written only where the fact was.
// An error of such a fact makes its line one of it, whoever met it: see [Of].
// Other warnings and errors are grouped by their reason: of those that say the same of several
// items one is written a minute. The attribute [Times] says how many a line stands for.
//
// The handler also gives durations one form: 1.5s.
package factlog

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// The keys of the attributes that the handler reads and writes.
const (
	Fact  = "fact"  // names what lasts
	Over  = "over"  // names what ended
	Times = "times" // of how many lines this one is the last
	Lasts = "lasts" // for how long the fact lasts, or lasted
)

// Facts that several packages meet.
const (
	// Away is the fact that a service is away. The rules of reconcile name it, too, as
	// reconcile.FactAway.
	Away = "requests to a service fail"
	// Refused is that a service does not take the token or the secret.
	Refused = "a service refuses the secret"
	// Limited is that GitHub limits the requests to a resource.
	Limited = "GitHub limits requests"
	// StoreAway is that the store does not answer.
	StoreAway = "the store is away"
	// KeysWait is that keys wait for a service or for an operator.
	KeysWait = "keys wait"
	// InTurn is that keys wait for their turn of a budget. It is over when none has for a while.
	InTurn = "keys wait for their turn"
)

// scopeOf are the facts that one attribute alone tells apart, or none does (""), so that whatever
// notices them first begins them.
var scopeOf = map[string]string{Away: "service", Refused: "service", Limited: "resource", KeysWait: "service", StoreAway: "", InTurn: ""}

// Of names the fact that an error is of, whatever was being done, as attributes of a line; nil: it
// is of none.
func Of(err error) []slog.Attr {
	var limited *mapping.RateLimited
	switch {
	case errors.Is(err, store.ErrAway):
		return []slog.Attr{slog.String(Fact, StoreAway)}
	case errors.As(err, &limited) && limited.Resource != "":
		return []slog.Attr{slog.String("resource", limited.Resource), slog.String(Fact, Limited)}
	}
	return nil
}

const (
	// window is the least time between two lines of one fact.
	window = time.Minute
	// forget is after how long without a line a fact begins anew.
	forget = 10 * time.Minute
	// most bounds the facts that are told apart; further lines are written as they are.
	most = 1000
)

// scopes are the keys whose values tell facts of one name apart.
var scopes = []string{"project", "repo", "service", "resource", "listener", "path"}

// items are the keys that say of which item a line is: lines of several are grouped.
var items = []string{
	"link", "issue", "card", "card_id", "task", "sub_issue", "copy", "other", "item", "delivery", "attempt", "attempts",
	"event", "action", "author", "stack",
}

// reasons are the keys whose values are texts; the items that these name are left out of account.
var reasons = []string{"err", "why", "reason", "says"}

// named is what tells one item from another within a text.
var named = regexp.MustCompile(`[\w.-]+/[\w.-]+#\d+|\b[0-9a-f]{8,}\b|\d+`)

// handler is the [slog.Handler] of this package.
type handler struct {
	inner  slog.Handler
	facts  *facts
	attrs  []slog.Attr // of With
	groups bool        // within a group no attribute is read
}

// NewHandler wraps a handler, unless it is one of this package; now is the clock.
func NewHandler(inner slog.Handler, now func() time.Time) slog.Handler {
	if h, is := inner.(*handler); is {
		return h
	}
	return &handler{inner: inner, facts: &facts{now: now, open: map[string]*fact{}}}
}

// Enabled implements [slog.Handler].
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.inner.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	own := *h
	own.inner = h.inner.WithAttrs(inOneForm(attrs))
	if !h.groups {
		own.attrs = append(slices.Clip(h.attrs), attrs...)
	}
	return &own
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	own := *h
	own.inner, own.groups = h.inner.WithGroup(name), true
	return &own
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	attrs := make([]slog.Attr, 0, r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool { attrs = append(attrs, a); return true })
	if r.Level >= slog.LevelWarn || has(attrs, Fact) {
		attrs = ofError(attrs)
	}
	line := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	line.AddAttrs(inOneForm(attrs)...)
	about := append(slices.Clip(h.attrs), attrs...)
	var writes []write
	switch over, ends := value(about, Over); {
	case ends:
		writes = h.facts.end(scoped(over, about), write{h.inner, line})
	case r.Level >= slog.LevelWarn || has(about, Fact):
		writes = h.facts.admit(keyOf(r, about), write{h.inner, line})
	default:
		writes = append(h.facts.sweep(), write{h.inner, line})
	}
	var err error
	for _, w := range writes {
		if e := w.to.Handle(ctx, w.line); e != nil {
			err = e
		}
	}
	return err
}

// ofError are the attributes of a line that are of the fact of its error, where that is of one.
func ofError(attrs []slog.Attr) []slog.Attr {
	var of []slog.Attr
	for _, a := range attrs {
		if err, is := a.Value.Any().(error); is && a.Key == "err" {
			of = Of(err)
		}
	}
	if of == nil {
		return attrs
	}
	attrs = slices.DeleteFunc(attrs, func(a slog.Attr) bool { return has(of, a.Key) })
	return append(attrs, of...)
}

// keyOf names the fact that a line is about.
func keyOf(r slog.Record, about []slog.Attr) string {
	if fact, is := value(about, Fact); is {
		return scoped(fact, about)
	}
	key := []string{r.Level.String(), r.Message}
	for _, a := range about {
		switch v := a.Value.Resolve(); {
		case a.Key == "route" && has(about, "link"): // the item's
		case slices.Contains(items, a.Key), v.Kind() == slog.KindDuration, v.Kind() == slog.KindTime:
		case slices.Contains(reasons, a.Key):
			key = append(key, a.Key+"="+named.ReplaceAllString(v.String(), "#"))
		default:
			key = append(key, a.Key+"="+v.String())
		}
	}
	return strings.Join(key, "\x00")
}

// scoped is the key of a fact that lines name.
func scoped(fact string, about []slog.Attr) string {
	key := "fact\x00" + fact
	only, scoped := scopeOf[fact]
	for _, scope := range scopes {
		if scoped && scope != only {
			continue
		}
		if v, is := value(about, scope); is {
			key += "\x00" + scope + "=" + v
		}
	}
	return key
}

func value(attrs []slog.Attr, key string) (string, bool) {
	for i := len(attrs) - 1; i >= 0; i-- {
		if attrs[i].Key == key {
			return attrs[i].Value.Resolve().String(), true
		}
	}
	return "", false
}

func has(attrs []slog.Attr, key string) bool {
	_, is := value(attrs, key)
	return is
}

// inOneForm gives durations the form that people read.
func inOneForm(attrs []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		if a.Value.Kind() == slog.KindDuration {
			a.Value = slog.StringValue(form(a.Value.Duration()))
		}
		out[i] = a
	}
	return out
}

func form(d time.Duration) string { return d.Round(time.Millisecond).String() }

// write is a line and where it goes.
type write struct {
	to   slog.Handler
	line slog.Record
}

// fact is something that lines are written about.
type fact struct {
	began, last time.Time // of its lines
	written     time.Time
	withheld    int
	latest      write        // of those withheld
	to          slog.Handler // of the first line
}

// facts are what the lines of a log are about. It is safe for concurrent use.
type facts struct {
	now func() time.Time

	mu    sync.Mutex
	open  map[string]*fact
	swept time.Time
}

// admit says what is to be written now that a line of a fact came.
func (f *facts) admit(key string, w write) []write {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	out := f.sweepAt(now, key)
	held := f.open[key]
	switch {
	case held == nil && len(f.open) >= most:
		return append(out, w)
	case held == nil:
		f.open[key] = &fact{began: now, last: now, written: now, to: w.to}
		return append(out, w)
	}
	held.last, held.latest = now, w
	held.withheld++
	if now.Sub(held.written) < window {
		return out
	}
	return append(out, held.take(now))
}

// end says what is to be written now that a fact is over.
func (f *facts) end(key string, w write) []write {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	held := f.open[key]
	delete(f.open, key)
	out := f.sweepAt(now, "")
	if held == nil {
		return out
	}
	line := w.line.Clone()
	line.AddAttrs(slog.String(Lasts, form(now.Sub(held.began))))
	if held.withheld > 0 {
		line.AddAttrs(slog.Int(Times, held.withheld))
	}
	return append(out, write{w.to, line})
}

// sweep says what of the lines that were withheld is to be written by now.
func (f *facts) sweep() []write {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sweepAt(f.now(), "")
}

// sweepAt looks at all facts but one, at most once a second. Facts without a line for a while
// are forgotten.
func (f *facts) sweepAt(now time.Time, but string) []write {
	if now.Sub(f.swept) < time.Second {
		return nil
	}
	f.swept = now
	var out []write
	for key, held := range f.open {
		switch {
		case key == but:
		case held.withheld > 0 && now.Sub(held.written) >= window:
			out = append(out, held.take(now))
		case now.Sub(held.last) >= forget:
			if delete(f.open, key); key == inTurn {
				out = append(out, held.over(now))
			}
		}
	}
	slices.SortFunc(out, func(a, b write) int { return a.line.Time.Compare(b.line.Time) })
	return out
}

// inTurn is the key of [InTurn], which nothing else ends.
var inTurn = scoped(InTurn, nil)

// over is the line that ends [InTurn].
func (held *fact) over(now time.Time) write {
	line := slog.NewRecord(now, slog.LevelInfo, "keys wait no more for their turn", 0)
	line.AddAttrs(slog.String(Over, InTurn), slog.String(Lasts, form(held.last.Sub(held.began))))
	return write{held.to, line}
}

// Anew has the next warnings of a log written though they were written within the minute: an
// operator changed what they are about. What lasts, such as an outage, goes on. A log whose
// handler is not of this package stays as it is.
func Anew(ctx context.Context, log *slog.Logger) {
	h, is := log.Handler().(*handler)
	if !is {
		return
	}
	for _, w := range h.facts.anew() {
		_ = w.to.Handle(ctx, w.line) // as a logger does
	}
}

// anew forgets all but what lines name as a fact, and says what of it was withheld.
func (f *facts) anew() []write {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []write
	for key, held := range f.open {
		if strings.HasPrefix(key, Fact+"\x00") {
			continue
		}
		if held.withheld > 0 {
			out = append(out, held.take(f.now()))
		}
		delete(f.open, key)
	}
	slices.SortFunc(out, func(a, b write) int { return a.line.Time.Compare(b.line.Time) })
	return out
}

// take is the last line that was withheld, with the number of those that it stands for.
func (held *fact) take(now time.Time) write {
	line := held.latest.line.Clone()
	line.AddAttrs(slog.Int(Times, held.withheld), slog.String(Lasts, form(now.Sub(held.began))))
	out := write{held.latest.to, line}
	held.written, held.withheld, held.latest = now, 0, write{}
	return out
}
