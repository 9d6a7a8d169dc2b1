package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

const (
	maxBody = 25 << 20 // GitHub delivers at most 25 MB
	// slabSize is the unit in which bodies allocate memory.
	slabSize = 32 << 10
	// unpaced is the part of each body that is read at full speed. Events that the bridge acts on
	// hardly ever exceed it.
	unpaced = 256 << 10
	// pace bounds how fast the rest of larger bodies is read, in bytes a second over all
	// connections. A flood of them then leaves processor time to small ones. paceBurst is read at
	// full speed after a quiet time.
	pace, paceBurst = 16 << 20, 4 << 20
)

// slabs are pieces of memory for bodies.
var slabs = sync.Pool{New: func() any { return new([slabSize]byte) }}

// body is the body of one delivery, in slabs. Nothing of it is parsed before its signature is
// verified.
type body struct {
	in    *Intake
	share *share // nil: it no longer counts as unverified
	slabs []*[slabSize]byte
	size  int
	whole *bytes.Buffer // the joined body; nil: it fits one slab
}

// newBody begins a body. abort ends a waiting read.
func (in *Intake) newBody(abort func()) *body {
	return &body{in: in, share: in.unverified.begin(abort)}
}

// room returns free memory for the next bytes, never empty.
func (b *body) room(ctx context.Context) ([]byte, error) {
	at := b.size % slabSize
	if b.size == len(b.slabs)*slabSize {
		if err := b.in.unverified.grow(ctx, b.share, slabSize); err != nil {
			return nil, err
		}
		b.slabs = append(b.slabs, slabs.Get().(*[slabSize]byte))
	}
	return b.slabs[len(b.slabs)-1][at:], nil
}

// parts returns the bytes read.
func (b *body) parts() [][]byte {
	out := make([][]byte, len(b.slabs))
	left := b.size
	for i, s := range b.slabs {
		out[i] = s[:min(left, slabSize)]
		left -= len(out[i])
	}
	return out
}

// verified ends the body's share of the budget of unverified bytes. It returns the body in one
// piece, valid until free.
func (b *body) verified() []byte {
	b.in.unverified.end(b.share)
	b.share = nil
	switch len(b.slabs) {
	case 0:
		return nil
	case 1:
		return b.slabs[0][:b.size]
	}
	b.whole = buffers.Get().(*bytes.Buffer)
	b.whole.Grow(b.size)
	for _, part := range b.parts() {
		b.whole.Write(part)
	}
	b.freeSlabs()
	return b.whole.Bytes()
}

func (b *body) freeSlabs() {
	for _, s := range b.slabs {
		slabs.Put(s)
	}
	b.slabs = nil
}

// free releases the body's memory.
func (b *body) free() {
	b.freeSlabs()
	if b.share != nil {
		b.in.unverified.end(b.share)
	}
	if b.whole != nil && b.whole.Cap() <= maxKept {
		b.whole.Reset()
		buffers.Put(b.whole)
	}
	b.share, b.whole = nil, nil
}

// buffers hold verified bodies larger than one slab. A buffer larger than maxKept is not reused.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxKept = 128 << 10

// read reads the body until ctx's deadline. It allocates memory for what arrives, not for what
// the client announces. The caller frees the body, also after an error.
func (in *Intake) read(ctx context.Context, w http.ResponseWriter, r *http.Request) (*body, error) {
	conn := http.NewResponseController(w)
	if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); !ok || srv.ReadTimeout <= 0 || srv.ReadTimeout > in.o.Timeout {
		deadline, _ := ctx.Deadline()
		// A test's recorder has no deadlines.
		if err := conn.SetReadDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return in.newBody(nil), bad(fmt.Errorf("bound the read: %w", err))
		}
	}
	b := in.newBody(func() { conn.SetReadDeadline(time.Unix(1, 0)) }) //nolint:errcheck // after a failure the connection has ended
	if r.ContentLength > maxBody {
		return b, in.over(ctx, w, r)
	}
	err := b.fill(ctx, http.MaxBytesReader(w, r.Body, maxBody), r.ContentLength)
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		b.free()
		return b, in.over(ctx, w, r)
	}
	return b, unread(w, b.share, err)
}

// fill reads to the end, or to the announced size unless that is below 0.
func (b *body) fill(ctx context.Context, from io.Reader, announced int64) error {
	for int64(b.size) != announced {
		room, err := b.room(ctx)
		if err != nil {
			return err
		}
		n, err := from.Read(room)
		b.size += n
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && b.size > unpaced {
			err = b.in.paced(ctx, b.share.shed, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// paced waits until n more bytes of large bodies may be read, or until shed is closed.
func (in *Intake) paced(ctx context.Context, shed <-chan struct{}, n int) error {
	delay := in.pace.ReserveN(time.Now(), n).Delay()
	if delay == 0 {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-shed:
		return errShed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unread returns why a body was not read, or nil.
func unread(w http.ResponseWriter, s *share, err error) error {
	if err == nil {
		return nil
	}
	w.Header().Set("Connection", "close")
	switch {
	case errors.Is(err, errShed), isClosed(s.shed):
		return &fault{http.StatusServiceUnavailable, overloaded, errShed}
	case errors.Is(err, net.ErrClosed):
		return &fault{http.StatusServiceUnavailable, overloaded, errors.New("too many connections")}
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return &fault{http.StatusRequestTimeout, slow, errors.New("body did not come in time")}
	}
	return bad(fmt.Errorf("read body: %w", err))
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// over refuses a body that is too large. It reads and discards as much again: a client that sends
// everything before it reads then gets the answer, not a reset.
func (in *Intake) over(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Connection", "close")
	for left := int64(maxBody); left > 0; left -= slabSize {
		n, err := io.CopyN(io.Discard, r.Body, min(left, slabSize))
		if err != nil || in.paced(ctx, nil, int(n)) != nil {
			break // the rest is useless, however it ends
		}
	}
	return &fault{http.StatusRequestEntityTooLarge, tooLarge, errors.New("body is over 25 MiB")}
}
