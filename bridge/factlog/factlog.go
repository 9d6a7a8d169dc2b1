// Package factlog keeps a log to one line for one fact.
//
// [NewHandler] wraps a [slog.Handler]. A line with the attribute [Fact] is about a lasting fact,
// such as an outage. It is written when the fact begins, and once a minute while such lines come. A
// line with the attribute [Over] ends a fact and is written only where the fact was. It is withheld
// for a minute: a fact that begins again within it never ended. A line with an error of such a fact
// belongs to the fact, wherever it comes from: see [Of]. Other warnings and errors are grouped by
// their reason. One a minute is written of those that say the same of several items. The attribute
// [Times] is the number of lines that a line stands for.
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
	"time"

	"planbridge/bridge/clock"
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

// The facts of several packages.
const (
	// Away is the fact that a service is away. The rules of reconcile name it, too, as
	// reconcile.FactAway.
	Away = "requests to a service fail"
	// Refused: a service refuses the token or the secret. The rules of reconcile name it, too, as
	// reconcile.FactRefused.
	Refused = "a service refuses the secret"
	// Limited: GitHub limits the requests to a resource.
	Limited = "GitHub limits requests"
	// Public: a repository is public, and its routes do not allow that.
	Public = "a repository is public"
	// StoreAway: the store does not answer.
	StoreAway = "the store is away"
	// StoreFull: the store accepts no write, so that people have to act: its lines are errors.
	StoreFull = "the store is full"
	// KeysWait: keys wait for a service or for an operator.
	KeysWait = "keys wait"
	// InTurn: keys wait for their turn of a budget. The fact ends when no key has waited for a
	// while. The rules of reconcile name it, too, as reconcile.FactInTurn.
	InTurn = "keys wait for their turn"
)

// scopeOf names the one attribute that separates facts of a name; "": none does. So the first
// line about such a fact begins it, wherever it comes from.
var scopeOf = map[string]string{Away: "service", Refused: "service", Limited: "resource", KeysWait: "service", StoreAway: "", StoreFull: "", InTurn: "", store.FactLost: ""}

// Answer returns the level and the fact of a failed request to a service. The service refuses the
// secret, is away, or failed otherwise. Without an error, the level is that of a mere fact.
func Answer(err error, other string) (level slog.Level, fact string) {
	switch {
	case err == nil:
		return slog.LevelInfo, other
	case errors.Is(err, mapping.ErrUnauthorized):
		return slog.LevelError, Refused
	case errors.Is(err, mapping.ErrUnavailable):
		return slog.LevelWarn, Away
	}
	return slog.LevelWarn, other
}

// Of returns the attributes that name the fact behind an error, whatever the operation was;
// nil: the error belongs to no fact.
func Of(err error) []slog.Attr {
	var limited *mapping.RateLimited
	switch {
	case errors.Is(err, store.ErrAway):
		return []slog.Attr{slog.String(Fact, StoreAway)}
	case errors.Is(err, store.ErrNoRoom):
		return []slog.Attr{slog.String(Fact, StoreFull)}
	case errors.Is(err, store.ErrEpoch):
		return []slog.Attr{slog.String(Fact, store.FactLost)}
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
	// most bounds the number of facts; further lines are written unchanged.
	most = 1000
)

// scopes are the keys whose values separate facts of one name.
var scopes = []string{"project", "repo", "service", "resource", "listener", "path"}

// items are the keys that name the item of a line. Lines about several items are grouped.
var items = []string{
	"link", "issue", "card", "card_id", "task", "sub_issue", "copy", "other", "item", "label", "delivery", "attempt", "attempts",
	"event", "action", "author", "stack",
}

// reasons are the keys whose values are texts. Names of items in them do not count.
var reasons = []string{"err", "why", "reason", "says", "what"}

// named matches the names of items and repositories within a text.
var named = regexp.MustCompile(`[\w.-]+/[\w.-]+(?:#\d+)?|\b[0-9a-f]{8,}\b|\d+`)

// handler is the [slog.Handler] of this package.
type handler struct {
	inner  slog.Handler
	facts  *facts
	attrs  []slog.Attr // of With
	groups bool        // within a group no attribute is read
}

// NewHandler wraps a handler, unless it is one of this package; c tells its time.
func NewHandler(inner slog.Handler, c clock.Clock) slog.Handler {
	if h, is := inner.(*handler); is {
		return h
	}
	return &handler{inner: inner, facts: &facts{clock: c, open: map[string]*fact{}}}
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
	if fact, _ := value(attrs, Fact); fact == StoreFull {
		r.Level = slog.LevelError
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

// ofError returns the attributes of a line that name the fact behind its error.
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
	var key strings.Builder
	key.WriteString("fact\x00" + fact)
	only, scoped := scopeOf[fact]
	for _, scope := range scopes {
		if scoped && scope != only {
			continue
		}
		if v, is := value(about, scope); is {
			key.WriteString("\x00" + scope + "=" + v)
		}
	}
	return key.String()
}

func value(attrs []slog.Attr, key string) (string, bool) {
	for _, attr := range slices.Backward(attrs) {
		if attr.Key == key {
			return attr.Value.Resolve().String(), true
		}
	}
	return "", false
}

func has(attrs []slog.Attr, key string) bool {
	_, is := value(attrs, key)
	return is
}

// inOneForm gives durations one form.
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
