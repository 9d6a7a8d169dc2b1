// Package logtest keeps the log of a test.
package logtest

import (
	"strings"
	"sync"
)

// Text is the log so far. It can be read while it is written.
type Text struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds to the text.
func (t *Text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// String is the text.
func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// Lines is the number of lines that contain a text.
func (t *Text) Lines(with string) (n int) {
	for line := range strings.Lines(t.String()) {
		if strings.Contains(line, with) {
			n++
		}
	}
	return n
}
