package planning

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/mapping"
)

// clockGrain is the least age of a usable Last-Modified at its answer. It has whole seconds, so
// that a later change in the same second would not show.
const clockGrain = 2 * time.Second

// condition makes a request conditional: it asks for the answer only where that differs from the
// one with the tag since.
type condition struct {
	since     string // an ETag, else a Last-Modified; "": unconditional
	tag       string // the answer's tag; "": none
	unchanged bool
}

// ask sets the header of the request. A nil condition sets nothing.
func (c *condition) ask(h http.Header) {
	switch {
	case c == nil || c.since == "":
	case isETag(c.since):
		h.Set("If-None-Match", c.since)
	default:
		h.Set("If-Modified-Since", c.since)
	}
}

// met stores the answer's tag, and reports whether nothing changed.
func (c *condition) met(resp *http.Response) bool {
	if c == nil {
		return false
	}
	c.unchanged = resp.StatusCode == http.StatusNotModified && c.since != ""
	if c.tag = tagOf(resp.Header); c.unchanged {
		c.tag = c.since
	}
	return c.unchanged
}

func isETag(s string) bool { return strings.HasSuffix(s, `"`) }

// tagOf returns the tag that identifies an answer: its ETag, else its Last-Modified.
func tagOf(h http.Header) string {
	if tag := h.Get("ETag"); isETag(tag) {
		return tag
	}
	modified := h.Get("Last-Modified")
	then, err := http.ParseTime(modified)
	now, dateErr := http.ParseTime(h.Get("Date"))
	if err != nil || dateErr != nil || now.Sub(then) < clockGrain {
		return ""
	}
	return modified
}

const (
	// keptBytes bounds the kept answers, by the size of their bodies.
	keptBytes = 4 << 20
	// keptUses bounds how often a kept answer is reused, whatever the service says.
	keptUses = 20
)

// answers keeps the answers of lists that can be read conditionally. It is safe for concurrent
// use.
type answers struct {
	mu     sync.Mutex
	byPath map[string]*keptAnswer
	bytes  int
	count  int // answers kept
}

type keptAnswer struct {
	tag    string
	value  any
	size   int
	number int
	uses   int
}

// get returns the kept answer, or an empty one.
func (a *answers) get(path string) keptAnswer {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.byPath[path]
	if k == nil || k.uses >= keptUses {
		return keptAnswer{}
	}
	k.uses++
	return *k
}

// put keeps an answer, and removes older ones beyond the bound.
func (a *answers) put(path string, k keptAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byPath == nil {
		a.byPath = map[string]*keptAnswer{}
	}
	a.remove(path)
	if k.tag == "" || k.size > keptBytes/2 {
		return
	}
	a.count++
	k.number = a.count
	a.byPath[path] = &k
	for a.bytes += k.size; a.bytes > keptBytes; {
		oldest := path
		for other, o := range a.byPath {
			if o.number < a.byPath[oldest].number {
				oldest = other
			}
		}
		a.remove(oldest)
	}
}

func (a *answers) remove(path string) {
	if k := a.byPath[path]; k != nil {
		a.bytes -= k.size
		delete(a.byPath, path)
	}
}

// News is a client that reads sprints and their items by conditional requests. While the service
// says that a list is unchanged, it returns the earlier one. A wrong "unchanged" hides items. A
// News therefore proves no absence.
type News struct{ *Client }

// News returns a client that only looks for changes.
func (c *Client) News() News { return News{c} }

// Sprints lists the project's sprints (endpoint 7).
func (n News) Sprints(ctx context.Context) ([]Sprint, error) {
	return kept(ctx, n.Client, n.sprints(), slices.Clone[[]Sprint], readSprints)
}

// SprintItems reads the items of a sprint (endpoint 9).
func (n News) SprintItems(ctx context.Context, id mapping.ObjectID) (SprintItems, error) {
	return kept(ctx, n.Client, n.sprintItems(id), SprintItems.clone, readSprintItems)
}

// kept reads a list by a conditional request. For an unchanged answer it decodes nothing and
// returns a clone of the earlier value.
func kept[T any](ctx context.Context, c *Client, k call, clone func(T) T, read func(body []byte) (T, error)) (out T, err error) {
	was := c.answers.get(k.path)
	k.condition = &condition{since: was.tag}
	var size int
	out, err = decoded(ctx, c, k, func(body []byte) (T, error) {
		size = len(body)
		return read(body)
	})
	if err != nil {
		return out, err
	}
	if k.condition.unchanged {
		same, _ := was.value.(T)
		return clone(same), nil
	}
	c.answers.put(k.path, keptAnswer{tag: k.condition.tag, value: out, size: size})
	return clone(out), nil
}
