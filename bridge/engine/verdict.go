package engine

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"planbridge/bridge/factlog"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// verdict is the outcome of a claim, with its metric, its log line and its note in the link.
type verdict struct {
	store.Outcome
	result   string           // label of the metric
	deferred mapping.Deferred // the link's record of deferrals
	level    slog.Level
	message  string // the log message; "": no line
	attrs    []any
}

func (v verdict) logs(level slog.Level, message string, attrs ...any) verdict {
	v.level, v.message, v.attrs = level, message, attrs
	return v
}

func (v verdict) report(log *slog.Logger) {
	if v.message != "" {
		log.Log(context.Background(), v.level, v.message, v.attrs...)
	}
}

// decisionInput is all that decides the outcome of a key, beside the core's result.
type decisionInput struct {
	attempts int // failed attempts so far
	deferred mapping.Deferred
	retry    Retry
	now      time.Time
	random   func(n int64) int64
}

// decide returns the outcome of a key. It changes nothing.
func decide(r reconcile.Rest, s decisionInput) verdict {
	out, level := store.Outcome{Reason: r.Why}, slog.LevelInfo
	if r.Err != nil {
		level = slog.LevelWarn
	}
	v := verdict{result: "again", deferred: s.deferred}
	switch r.Kind {
	case reconcile.RestAgreed:
		out.Kind, out.After = store.Done, r.After
		return verdict{Outcome: out, result: "done"}
	case reconcile.RestPutOff:
		return s.putOff(r)
	case reconcile.RestFailed:
		v = s.fail(r.Err)
		if v.Kind == store.Retry && r.Service != "" {
			v.attrs = append(v.attrs, "service", r.Service, factlog.Fact, factlog.Away)
		}
		return v
	case reconcile.RestLost:
		return verdict{result: "lost"}.logs(slog.LevelWarn, "key given up", "err", r.Err)
	case reconcile.RestRemoved:
		out.Kind, v.result = store.Remove, "removed"
		if r.Err != nil {
			v = v.logs(level, "removed", "err", r.Err)
		}
	case reconcile.RestInTurn, reconcile.RestLimited:
		out.Kind, out.After = store.Again, r.After+reconcile.Jitter(s.random, r.Spread)
		if r.Kind == reconcile.RestLimited {
			v.result = "limited"
		}
		v = v.logs(quiet(r, level), "put off", "after", out.After, "why", r.Why)
		if r.Kind == reconcile.RestLimited {
			v.attrs = append(v.attrs, factOf(r.Err, factlog.InTurn)...)
		}
	case reconcile.RestBlocked:
		out.Kind, out.Service, v.result = store.Wait, r.Service, "waiting"
		level, fact := factlog.Answer(r.Err, factlog.KeysWait)
		v = v.logs(level, "waiting", append([]any{"service", r.Service, "why", r.Why}, factOf(r.Err, fact)...)...)
	case reconcile.RestParked:
		out.Kind, v.result = store.Park, "parked"
		v = v.logs(slog.LevelWarn, "parked", "err", r.Err)
	case reconcile.RestHeld:
		out.Kind, v.result = store.Hold, "parked"
		v = v.logs(slog.LevelError, "parked", "err", r.Err)
	}
	v.Outcome = out
	return v
}

// factOf returns the log attributes of the fact that err names, or of the other one.
func factOf(err error, other string) (attrs []any) {
	for _, a := range factlog.Of(err) {
		attrs = append(attrs, a)
	}
	if attrs == nil {
		attrs = []any{factlog.Fact, other}
	}
	return attrs
}

func quiet(r reconcile.Rest, level slog.Level) slog.Level {
	if r.Quiet {
		return slog.LevelDebug
	}
	return level
}

const (
	// flatDeferrals is how many deferrals in a row keep the pause that the core asked for. After
	// that each pause is twice as long as the one before, up to maxDeferral.
	flatDeferrals = 10
	maxDeferral   = time.Minute
	// deferralTimeout is how long a key is put off before each deferral is a failure. Failures
	// spend retry.max_attempts.
	deferralTimeout = time.Hour
)

// putOff puts a key off. A key that is put off again and again waits longer, and finally fails.
func (s decisionInput) putOff(r reconcile.Rest) verdict {
	d := s.deferred
	if d.Count == 0 {
		d.Since = s.now.UTC()
	}
	d.Count++
	after := r.After
	if more := d.Count - flatDeferrals; more > 0 {
		after = max(after, min(time.Second<<min(more, 10), maxDeferral))
	}
	if d.Count > 2*flatDeferrals && s.now.Sub(d.Since) > deferralTimeout {
		v := s.fail(fmt.Errorf("put off %s since %s: %w", mapping.Count(d.Count, "time", "times"), d.Since.Format(time.RFC3339), r.Err))
		if v.deferred = d; v.Kind == store.Park {
			v.deferred = mapping.Deferred{}
		}
		return v
	}
	v := verdict{Outcome: store.Outcome{Kind: store.Again, After: after, Reason: r.Why}, result: "again", deferred: d}
	return v.logs(quiet(r, slog.LevelInfo), "put off", "after", after, "why", r.Why)
}

// fail spends an attempt, or parks the key when none is left.
func (s decisionInput) fail(err error) verdict {
	attempts, v := s.attempts+1, verdict{deferred: s.deferred}
	if attempts >= s.retry.MaxAttempts {
		v.Outcome, v.result = store.Outcome{Kind: store.Park, Reason: err.Error()}, "parked"
		return v.logs(slog.LevelError, "parked", "attempts", attempts, "err", err)
	}
	after := s.backOff(attempts)
	v.Outcome, v.result = store.Outcome{Kind: store.Retry, After: after, Reason: err.Error()}, "retry"
	return v.logs(slog.LevelWarn, "to be tried again", "attempt", attempts, "after", after, "err", err)
}

// backOff returns the pause after so many attempts.
func (s decisionInput) backOff(attempts int) time.Duration {
	after := min(time.Second<<min(attempts-1, 20), s.retry.MaxInterval)
	return after/2 + reconcile.Jitter(s.random, after)
}
