package webhook

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// unauthenticatedLogLimit keeps those who have not proven to be GitHub from filling the
// log: in each window the first line of a kind is written at once, and at the window's
// end one line says how many more there were. The metrics count them all. It is safe for
// concurrent use.
type unauthenticatedLogLimit struct {
	window time.Duration

	mu   sync.Mutex
	more map[string]int // by kind; a kind that is there has an open window
}

// log calls write at once, or counts the line; at the end of a window with such lines the
// last of them is written with their number. Kinds have to be few.
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

// httpErrors takes the lines that net/http writes about connections, which are about
// strangers too.
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
