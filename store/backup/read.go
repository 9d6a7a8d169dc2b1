package backup

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"

	"github.com/klauspost/compress/zstd"

	"planbridge/store"
	"planbridge/store/internal/rules"
)

// Summary describes a whole backup.
type Summary struct {
	Header
	Counts
	SHA256 string   `json:"sha256"`         // of all lines except the last
	Lost   []string `json:"lost,omitempty"` // unreadable content, at most mostLost entries
}

// mostLost bounds [Summary].Lost.
const mostLost = 20

var (
	errForeign = errors.New("expected a backup of planbridge: this is another kind of file")
	errCut     = errors.New("the file ends here, expected more: it was cut off")
	errStopped = errors.New("the visitor stopped")
)

// Check reads a whole backup and returns its first fault: the entry, and its expected content.
func Check(r io.Reader) (Summary, error) {
	return read(r, func(store.Entry) error { return nil })
}

// Entries returns the entries of a backup, for [store.Dumps].Load. A fault of the file ends them,
// at the latest after the last entry.
func Entries(r io.Reader) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		_, err := read(r, func(e store.Entry) error {
			if !yield(e, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(store.Entry{}, err)
		}
	}
}

// read visits the entries of a backup.
func read(r io.Reader, visit func(store.Entry) error) (Summary, error) {
	var s Summary
	unpacker, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
	if err != nil {
		return s, err
	}
	defer unpacker.Close()
	in := &reader{buf: bufio.NewReaderSize(unpacker, 64<<10), sum: sha256.New()}
	if err := in.header(&s.Header); err != nil {
		return s, fmt.Errorf("first line: %w", err)
	}
	for {
		closing, err := in.entry(&s, visit)
		if err != nil {
			return s, fmt.Errorf("entry %d: %w", s.Entries+1, err)
		}
		if closing != nil {
			return s, in.end(&s, closing)
		}
	}
}

// reader reads lines.
type reader struct {
	buf  *bufio.Reader
	sum  hash.Hash // of all lines except the last read one
	line []byte    // the last read line
}

// next reads a line.
func (r *reader) next() error {
	r.sum.Write(r.line)
	r.line = r.line[:0]
	for {
		part, err := r.buf.ReadSlice('\n')
		r.line = append(r.line, part...)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return errCut
		case !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("the file is damaged: %w", err)
		case len(r.line) > mostLine:
			return fmt.Errorf("more than %d bytes on one line: the file is damaged", mostLine)
		}
	}
}

func (r *reader) header(h *Header) error {
	err := r.next()
	if err == nil && (json.Unmarshal(r.line, h) != nil || h.Kind != kind) || errors.Is(err, zstd.ErrMagicMismatch) {
		return errForeign
	}
	switch {
	case err != nil:
		return err
	case h.Format > Format:
		return fmt.Errorf("format %d, expected at most %d: %w", h.Format, Format, ErrFormat)
	case h.Schema > store.Schema:
		return fmt.Errorf("schema %d, expected at most %d: %w", h.Schema, store.Schema, ErrFormat)
	case h.Format < 1 || h.Schema < 1:
		return fmt.Errorf("format %d and schema %d, expected both from 1", h.Format, h.Schema)
	}
	return nil
}

// entry reads an entry, or the last line.
func (r *reader) entry(s *Summary, visit func(store.Entry) error) (*last, error) {
	if err := r.next(); err != nil {
		return nil, err
	}
	var got struct {
		store.Entry
		last
	}
	if err := json.Unmarshal(r.line, &got); err != nil {
		return nil, fmt.Errorf("expected an entry: %w", err)
	}
	if got.End != nil || got.Failed != "" {
		return &got.last, nil
	}
	if err := check(&got.Entry); err != nil {
		return nil, err
	}
	if got.Spoilt != "" && len(s.Lost) < mostLost {
		s.Lost = append(s.Lost, got.Spoilt)
	}
	if err := visit(got.Entry); err != nil {
		return nil, err
	}
	s.add(&got.Entry)
	return nil, nil
}

// end compares the last line with the lines read.
func (r *reader) end(s *Summary, closing *last) error {
	if closing.Failed != "" {
		return fmt.Errorf("the backup was given up at entry %d: %s", s.Entries+1, closing.Failed)
	}
	want := closing.End
	s.SHA256 = hex.EncodeToString(r.sum.Sum(nil))
	switch {
	case s.SHA256 != want.SHA256:
		return fmt.Errorf("SHA-256 %s of %d entries, expected %s: the file is damaged", s.SHA256, s.Entries, want.SHA256)
	case s.Counts != want.Counts:
		return fmt.Errorf("%+v, expected %+v: the file is damaged", s.Counts, want.Counts)
	}
	if _, err := r.buf.Peek(1); !errors.Is(err, io.EOF) {
		return fmt.Errorf("expected the end of the file behind entry %d: the file is damaged", s.Entries)
	}
	return nil
}

// places are the valid places of a record.
var places = []store.Place{store.Idle, store.Queued, store.Waiting, store.Parked, store.Held}

// check returns why no store can load an entry.
func check(e *store.Entry) error {
	parts := 0
	for _, is := range []bool{e.Document != nil, e.Marks != nil, len(e.Deliveries) > 0, e.Record != nil, e.Conflict != nil, e.Spoilt != ""} {
		if is {
			parts++
		}
	}
	switch r, c := e.Record, e.Conflict; {
	case parts != 1:
		return fmt.Errorf("it has %d parts, expected one of document, marks, deliveries, record, conflict and spoilt", parts)
	case e.Document != nil && e.Document.Name == "":
		return errors.New("expected a document's name")
	case e.Marks != nil && e.Marks.Set == "":
		return errors.New("expected the name of a set of marks")
	case slices.ContainsFunc(e.Deliveries, func(d store.Delivery) bool { return len(d.Key) == 0 }):
		return errors.New("expected a delivery's key")
	case c != nil && (c.ID == "" || c.Project != e.Project):
		return fmt.Errorf("conflict %q of project %q, expected one of project %q", c.ID, c.Project, e.Project)
	case r == nil:
		return nil
	case r.Link == nil || r.Link.ID == "" || e.Project == "":
		return errors.New("expected a record with a link of a project")
	case !slices.Contains(places, r.Place):
		return fmt.Errorf("link %s/%s is %q, expected one of %q", e.Project, r.Link.ID, r.Place, places)
	}
	return rules.CheckLink(store.Key{Project: e.Project, Link: e.Record.Link.ID}, e.Record.Link)
}
