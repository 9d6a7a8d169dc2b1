package planningtest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"time"
)

// validated adds the validators to the answer of a read. It answers 304 instead where the caller
// has that answer.
func (c *call) validated(a *answer) *answer {
	if c.r.Method != http.MethodGet || a.status != http.StatusOK {
		return a
	}
	same := false
	switch c.t.Validators {
	case StrongETag, WeakETag:
		tag := fmt.Sprintf("%q", hashOf(a.body))
		if c.t.Validators == WeakETag {
			tag = "W/" + tag
		}
		a.header.Set("ETag", tag)
		same = c.r.Header.Get("If-None-Match") == tag
	case LastModified:
		modified := c.s.modified(c.r.URL.Path, hashOf(a.body)).UTC().Truncate(time.Second)
		a.header.Set("Last-Modified", modified.Format(http.TimeFormat))
		a.header.Set("Date", c.s.clock().UTC().Format(http.TimeFormat))
		since, err := http.ParseTime(c.r.Header.Get("If-Modified-Since"))
		same = err == nil && !modified.After(since)
	}
	if same {
		return &answer{http.StatusNotModified, a.header, nil}
	}
	return a
}

func hashOf(body []byte) string {
	h := fnv.New64a()
	h.Write(body)
	return fmt.Sprintf("%x", h.Sum64())
}

// shown is an answer, and the time of its last change.
type shown struct {
	body  string // its hash
	since time.Time
}

// modified is the time of the last change of a path's answer. It is known only by requests: before
// the first one, or at the first one with the new answer.
func (s *Server) modified(path, body string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, known := s.shown[path]
	if was.body != body {
		was = shown{body, s.clock()}
		if !known {
			was.since = was.since.Add(-time.Minute)
		}
		s.shown[path] = was
	}
	return was.since
}

// compressed compresses an answer where the service does, and its caller takes that.
func (c *call) compressed(a *answer) *answer {
	if a == nil || len(a.body) == 0 || !c.t.Gzip || !strings.Contains(c.r.Header.Get("Accept-Encoding"), "gzip") {
		return a
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is valid
	_, _ = z.Write(a.body)                          // a buffer takes every write
	_ = z.Close()                                   // as above
	header := a.header.Clone()
	header.Set("Content-Encoding", "gzip")
	return &answer{a.status, header, b.Bytes()}
}
