package factlog

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/clock"
)

// write is a line and where it goes.
type write struct {
	to   slog.Handler
	line slog.Record
}

// fact is the state of one fact.
type fact struct {
	began, last time.Time // of its lines
	written     time.Time
	withheld    int
	latest      write        // of those withheld
	ended       time.Time    // zero: it goes on
	end         write        // the line that reports the end, once the fact stayed away
	to          slog.Handler // of the first line
}

// facts holds the facts of a log. It is safe for concurrent use.
type facts struct {
	clock clock.Clock

	mu    sync.Mutex
	open  map[string]*fact
	swept time.Time
}

// admit returns the lines to write now that a line of a fact came.
func (f *facts) admit(key string, w write) []write {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	out := f.sweepAt(now, key)
	held := f.open[key]
	if held != nil && held.isOver(now) {
		out, held = append(out, held.ending()), nil
		delete(f.open, key)
	}
	switch {
	case held == nil && len(f.open) >= most:
		return append(out, w)
	case held == nil:
		f.open[key] = &fact{began: now, last: now, written: now, to: w.to}
		return append(out, w)
	}
	held.last, held.latest, held.ended = now, w, time.Time{}
	held.withheld++
	if now.Sub(held.written) < window {
		return out
	}
	return append(out, held.drain(now))
}

// end records that a fact is over, and returns the lines to write now.
func (f *facts) end(key string, w write) []write {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	if held := f.open[key]; held != nil && held.ended.IsZero() {
		held.ended, held.end = now, w
	}
	return f.sweepAt(now, "")
}

// isOver reports whether a fact ended and did not begin again for long enough.
func (held *fact) isOver(now time.Time) bool {
	return !held.ended.IsZero() && now.Sub(held.ended) >= window
}

// ending is the line about the end of a fact.
func (held *fact) ending() write {
	line := held.end.line.Clone()
	line.AddAttrs(slog.String(Lasts, form(held.ended.Sub(held.began))))
	if held.withheld > 0 {
		line.AddAttrs(slog.Int(Times, held.withheld))
	}
	return write{held.end.to, line}
}

// sweep returns the withheld lines that are due by now.
func (f *facts) sweep() []write {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sweepAt(f.clock.Now(), "")
}

// sweepAt checks all facts but one, at most once a second. A fact without lines for a while is
// dropped.
func (f *facts) sweepAt(now time.Time, but string) []write {
	if now.Sub(f.swept) < time.Second {
		return nil
	}
	f.swept = now
	var out []write
	for key, held := range f.open {
		switch {
		case key == but:
		case held.isOver(now):
			out = append(out, held.ending())
			delete(f.open, key)
		case !held.ended.IsZero():
		case held.withheld > 0 && now.Sub(held.written) >= window:
			out = append(out, held.drain(now))
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

// Anew lets the next warnings of a log through even within the minute, as an operator changed
// their subject. Lasting facts, such as an outage, go on. It does nothing for a log with
// another handler.
func Anew(ctx context.Context, log *slog.Logger) {
	each(ctx, log, func(h *handler, key string, held *fact) []write {
		if strings.HasPrefix(key, Fact+"\x00") {
			return nil
		}
		delete(h.facts.open, key)
		if held.withheld == 0 {
			return nil
		}
		return []write{held.drain(h.facts.clock.Now())}
	})
}

// Flush writes the ends of facts that are withheld, as the last lines of a process.
func Flush(ctx context.Context, log *slog.Logger) {
	each(ctx, log, func(h *handler, key string, held *fact) []write {
		if held.ended.IsZero() {
			return nil
		}
		delete(h.facts.open, key)
		return []write{held.ending()}
	})
}

// End ends all facts of a service that is no longer used, each by one line at once.
func End(ctx context.Context, log *slog.Logger, service, message string) {
	each(ctx, log, func(h *handler, key string, held *fact) []write {
		name, of, is := ofService(key)
		if !is || of != service {
			return nil
		}
		delete(h.facts.open, key)
		h.ends(held, name, service, message)
		return []write{held.ending()}
	})
}

// EndElsewhere ends a fact of each service, except those for which it lasts.
func EndElsewhere(ctx context.Context, log *slog.Logger, name, message string, lasts map[string]bool) {
	each(ctx, log, func(h *handler, key string, held *fact) []write {
		if of, service, is := ofService(key); is && of == name && !lasts[service] {
			h.ends(held, name, service, message)
		}
		return nil
	})
}

// ends notes that a fact of a service is over, unless that is noted.
func (h *handler) ends(held *fact, name, service, message string) {
	if !held.ended.IsZero() {
		return
	}
	line := slog.NewRecord(h.facts.clock.Now(), slog.LevelInfo, message, 0)
	line.AddAttrs(slog.String("service", service), slog.String(Over, name))
	held.ended, held.end = line.Time, write{h.inner, line}
}

// ofService splits the key of a service's fact into the fact's name and the service.
func ofService(key string) (name, service string, is bool) {
	parts := strings.Split(key, "\x00")
	if parts[0] != Fact || len(parts) < 2 {
		return "", "", false
	}
	for _, part := range parts[2:] {
		if service, is = strings.CutPrefix(part, "service="); is {
			return parts[1], service, true
		}
	}
	return "", "", false
}

// each writes the line that say returns for each fact of a log.
func each(ctx context.Context, log *slog.Logger, say func(*handler, string, *fact) []write) {
	h, is := log.Handler().(*handler)
	if !is {
		return
	}
	h.facts.mu.Lock()
	var out []write
	for key, held := range h.facts.open {
		out = append(out, say(h, key, held)...)
	}
	h.facts.mu.Unlock()
	slices.SortFunc(out, func(a, b write) int { return a.line.Time.Compare(b.line.Time) })
	for _, w := range out {
		_ = w.to.Handle(ctx, w.line) // as a logger does
	}
}

// drain is the last withheld line, with the number of lines that it stands for.
func (held *fact) drain(now time.Time) write {
	line := held.latest.line.Clone()
	line.AddAttrs(slog.Int(Times, held.withheld), slog.String(Lasts, form(now.Sub(held.began))))
	out := write{held.latest.to, line}
	held.written, held.withheld, held.latest = now, 0, write{}
	return out
}
