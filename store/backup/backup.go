// Package backup writes the content of a store to one file, and reads it back. Its entry points
// are [Write], [Check] and [Entries].
//
// The file is a zstd stream of lines of JSON: a [Header], then each [store.Entry] on a line of
// its own. The last line has their counts and the SHA-256 of all lines before. A file without
// that line is no backup. Where the store failed meanwhile, the last line says why.
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"planbridge/store"
)

// Format is the version of the file's form. A program reads no higher version.
const Format = 1

// kind is the Kind of each header.
const kind = "backup"

// Bounds of a file. A reader needs as much memory as the compressor's window.
const (
	window     = 1 << 20
	mostWindow = 8 << 20
	mostLine   = 256 << 20
)

// ErrFormat: a newer program wrote the file.
var ErrFormat = errors.New("a newer program wrote this backup")

// Header is the first line of a backup.
type Header struct {
	Kind    string    `json:"planbridge"` // always "backup"
	Format  int       `json:"format"`
	Schema  int       `json:"schema"`  // [store.Schema] of the program that wrote it
	Program string    `json:"program"` // its version
	Store   string    `json:"store"`   // file or redis
	At      time.Time `json:"at"`      // when the backup began
}

// Counts is the number of each part of a backup.
type Counts struct {
	Entries    int `json:"entries"` // lines without the first and the last
	Links      int `json:"links"`
	Conflicts  int `json:"conflicts"`
	Documents  int `json:"documents"`
	Marks      int `json:"marks"`
	Deliveries int `json:"deliveries"`
	Spoilt     int `json:"spoilt"` // unreadable records, which the backup lacks
}

// add counts an entry.
func (c *Counts) add(e *store.Entry) {
	c.Entries++
	c.Deliveries += len(e.Deliveries)
	switch {
	case e.Record != nil:
		c.Links++
	case e.Conflict != nil:
		c.Conflicts++
	case e.Document != nil:
		c.Documents++
	case e.Marks != nil:
		c.Marks += len(e.Marks.Marks)
	case e.Spoilt != "":
		c.Spoilt++
	}
}

// last is the last line of a backup. One of its fields is set.
type last struct {
	End    *end   `json:"end,omitempty"`
	Failed string `json:"failed,omitempty"` // why the backup failed
}

type end struct {
	Counts
	SHA256 string `json:"sha256"`
}

// Write writes the content of a store. It sets the header's Kind, Format and Schema. Where the
// store fails, the file's last line and the error say why.
func Write(ctx context.Context, w io.Writer, s store.Dumps, h Header) error {
	packer, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	out := &lines{w: packer, sum: sha256.New()}
	h.Kind, h.Format, h.Schema = kind, Format, store.Schema
	if err = errors.Join(out.line(h), packer.Flush()); err == nil { // the reader sees the begin at once
		err = out.entries(ctx, s)
	}
	closing := last{Failed: fmt.Sprint(err)}
	if err == nil {
		closing = last{End: &end{out.counts, hex.EncodeToString(out.sum.Sum(nil))}}
	}
	if err := errors.Join(err, out.line(closing), packer.Close()); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// lines writes values, each on a line.
type lines struct {
	w      io.Writer
	sum    hash.Hash
	counts Counts
}

func (l *lines) entries(ctx context.Context, s store.Dumps) error {
	return s.Dump(ctx, func(e store.Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.counts.add(&e)
		if err := l.line(e); err != nil {
			return fmt.Errorf("entry %d: %w", l.counts.Entries, err)
		}
		return nil
	})
}

func (l *lines) line(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(data) >= mostLine {
		return fmt.Errorf("%d bytes on one line, expected less than %d", len(data), mostLine)
	}
	data = append(data, '\n')
	l.sum.Write(data)
	_, err = l.w.Write(data)
	return err
}
