package github

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// fromCache marks an answer with a kept body that GitHub just confirmed with a 304.
const fromCache = "X-Planbridge-From-Cache"

// etags makes reads conditional: a 304 costs nothing of the primary limit. It never uses an
// answer without asking GitHub. It ignores max-age, as an issue that is a minute old is wrong.
type etags struct {
	next       http.RoundTripper
	maxEntries int
	maxBytes   int

	mu      sync.Mutex
	byKey   map[etagKey]*list.Element
	byIssue map[string]map[*list.Element]bool // snapshots by issue, see issueOf
	order   *list.List                        // of *snapshot, latest use first
	bytes   int
}

// etagKey has all on which GitHub's answer depends.
type etagKey struct {
	url, accept string
	auth        [sha256.Size]byte
}

// snapshot is one kept answer. It is immutable.
type snapshot struct {
	key    etagKey
	etag   string
	issue  string // see issueOf
	header http.Header
	body   []byte
}

// size includes the overhead, so that many small answers count.
func (s *snapshot) size() int { return len(s.body) + 1024 }

// lasting are the headers that the client reads and a 304 may omit.
var lasting = []string{"Content-Type", "Link", "X-Oauth-Scopes"}

func lastingOf(h http.Header) http.Header {
	out := make(http.Header, len(lasting))
	for _, name := range lasting {
		if values := h.Values(name); len(values) > 0 {
			out[name] = values
		}
	}
	return out
}

func newETags(next http.RoundTripper, entries, bytes int) *etags {
	return &etags{
		next: next, maxEntries: entries, maxBytes: bytes,
		byKey: map[etagKey]*list.Element{}, byIssue: map[string]map[*list.Element]bool{}, order: list.New(),
	}
}

// RoundTrip implements http.RoundTripper.
func (t *etags) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		// Again after the write: a read that began before it may end in between.
		t.dropIssue(req.URL.Path)
		defer t.dropIssue(req.URL.Path)
		return t.next.RoundTrip(req)
	}
	if callOf(req.Context()).fresh {
		return t.next.RoundTrip(req)
	}
	key := etagKey{req.URL.String(), req.Header.Get("Accept"), sha256.Sum256([]byte(req.Header.Get("Authorization")))}
	known := t.get(key)
	if known == nil {
		return t.fetch(key, req)
	}
	ask := req.Clone(req.Context())
	ask.Header.Set("If-None-Match", known.etag)
	resp, err := t.next.RoundTrip(ask)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusNotModified {
		t.keep(key, resp, req.URL.Path)
		return resp, nil
	}
	// A 304 confirms only the snapshot of its ETag.
	if etag := resp.Header.Get("ETag"); etag != "" && opaque(etag) != opaque(known.etag) {
		t.drop(key)
		return t.fetch(key, req)
	}
	return known.confirmed(resp), nil
}

func (t *etags) fetch(key etagKey, req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err == nil {
		t.keep(key, resp, req.URL.Path)
	}
	return resp, err
}

// confirmed turns a 304 into the full answer.
func (s *snapshot) confirmed(resp *http.Response) *http.Response {
	full := *resp
	full.Status, full.StatusCode = "200 OK", http.StatusOK
	full.Header = s.header.Clone()
	for name, values := range resp.Header { // Date and the limits are the new ones
		if !strings.HasPrefix(name, "Content-") {
			full.Header[name] = values
		}
	}
	full.Header.Set(fromCache, "1")
	setBody(&full, s.body)
	return &full
}

// opaque removes the weakness mark, as conditional reads compare weakly.
func opaque(etag string) string { return strings.TrimPrefix(etag, "W/") }

func (t *etags) get(key etagKey) *snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.byKey[key]
	if e == nil {
		return nil
	}
	t.order.MoveToFront(e)
	return e.Value.(*snapshot)
}

// keep stores an answer. It removes the earlier one where this one has no ETag to ask with.
func (t *etags) keep(key etagKey, resp *http.Response, path string) {
	etag := resp.Header.Get("ETag")
	s := &snapshot{key: key, etag: etag, issue: issueOf(path), body: bodyOf(resp)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(t.byKey[key])
	if resp.StatusCode != http.StatusOK || etag == "" || s.size() > t.maxBytes {
		return
	}
	s.header, s.body = lastingOf(resp.Header), bytes.Clone(s.body) // its buffer is larger
	e := t.order.PushFront(s)
	t.byKey[key] = e
	if s.issue != "" {
		if t.byIssue[s.issue] == nil {
			t.byIssue[s.issue] = map[*list.Element]bool{}
		}
		t.byIssue[s.issue][e] = true
	}
	t.bytes += s.size()
	for t.order.Len() > t.maxEntries || t.bytes > t.maxBytes {
		t.remove(t.order.Back())
	}
}

func (t *etags) drop(key etagKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(t.byKey[key])
}

// remove requires mu; e may be nil.
func (t *etags) remove(e *list.Element) {
	if e == nil {
		return
	}
	s := t.order.Remove(e).(*snapshot)
	delete(t.byKey, s.key)
	if delete(t.byIssue[s.issue], e); len(t.byIssue[s.issue]) == 0 {
		delete(t.byIssue, s.issue)
	}
	t.bytes -= s.size()
}

var issuePath = regexp.MustCompile(`/issues/\d+(/|$)`)

// issueOf returns the issue in a path, without its repository, or "". One repository has several
// paths (old and new names, /repositories/ID), and a needless read costs little.
func issueOf(path string) string { return strings.TrimSuffix(issuePath.FindString(path), "/") }

// dropIssue removes all snapshots of the issue in a write's path.
func (t *etags) dropIssue(path string) {
	issue := issueOf(path)
	if issue == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for e := range t.byIssue[issue] {
		t.remove(e)
	}
}

// forget removes every snapshot of a URL, so that its next read is whole.
func (t *etags) forget(url string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, e := range t.byKey {
		if key.url == url {
			t.remove(e)
		}
	}
}
