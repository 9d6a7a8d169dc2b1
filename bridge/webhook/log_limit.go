package webhook

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// unauthenticatedLogLimit bounds the log lines about unauthenticated clients. It writes the first
// line of a kind in each window at once, and one line with the number of further ones at its end.
// The metrics count all. It is safe for concurrent use.
type unauthenticatedLogLimit struct {
	window time.Duration

	mu   sync.Mutex
	more map[string]int // further lines by kind; each kind here has an open window
}

// log calls write at once, or counts the line. At the window's end the last counted line is
// written with their number. There must be few kinds.
func (l *unauthenticatedLogLimit) log(kind string, write func(...slog.Attr)) {
	l.mu.Lock()
	n, open := l.more[kind]
	if open {
		l.more[kind] = n + 1
	} else {
		if l.more == nil {
			l.more = map[string]int{}
		}
		l.more[kind] = 0
	}
	l.mu.Unlock()
	if open {
		return
	}
	write()
	time.AfterFunc(l.window, func() {
		l.mu.Lock()
		n := l.more[kind]
		delete(l.more, kind)
		l.mu.Unlock()
		if n > 0 {
			write(slog.Int("more_of_its_kind", n), slog.Duration("within", l.window))
		}
	})
}

// httpErrors receives net/http's lines about connections, which also concern unauthenticated
// clients.
type httpErrors struct {
	logger *slog.Logger
	limit  *unauthenticatedLogLimit
}

// Write implements io.Writer.
func (e *httpErrors) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	e.limit.log("http", func(more ...slog.Attr) {
		e.logger.LogAttrs(context.Background(), slog.LevelWarn, "public listener", append(more, slog.String("err", text))...)
	})
	return len(line), nil
}
