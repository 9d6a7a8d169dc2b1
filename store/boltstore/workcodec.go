package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"planbridge/mapping"
)

// A work's record is written at each observation, of which a webhook waits for
// one. It is formBinary and then numbers as varints and texts behind their
// lengths, in the order of encodeWork. Of an event it holds the number only: the
// event itself stands in a record of its own, so that those that wait are not
// written again with each that comes.
const formBinary = 2

// errCut: a record is shorter than it says.
var errCut = errors.New("record is cut")

// encodeWork makes a record.
func encodeWork(w *work) []byte {
	size := 128
	for _, s := range w.Inbox {
		size += 128 + len(s.Data)
	}
	b := append(make([]byte, 0, size), formBinary)
	b = appendNumbers(b, w.Gen, w.Token, w.Until, w.Again, int64(w.Place), number(w.Bulk), w.Due, int64(w.Attempts))
	b = appendPart(appendPart(b, w.Service), w.Reason)
	b = appendNumbers(b, int64(len(w.Inbox)))
	for _, ref := range slices.Sorted(maps.Keys(w.Inbox)) {
		s := w.Inbox[ref]
		b = appendNumbers(appendPart(b, ref), s.Gen, s.At, number(s.Ambiguous), s.Seen)
		b = appendPart(appendPart(b, s.Digest), s.Data)
	}
	b = appendNumbers(b, int64(len(w.Events)))
	for _, e := range w.Events {
		b = appendNumbers(b, e.Gen)
	}
	return b
}

func appendNumbers(b []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		b = binary.AppendVarint(b, n)
	}
	return b
}

func appendPart[T ~string | ~[]byte](b []byte, part T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(part))), part...)
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// decodeWork reads a record, which it does not keep.
func decodeWork(data []byte) (*work, error) {
	switch data[0] {
	case '{', formParts:
		return decodeWork1(data)
	case formBinary:
	default:
		return nil, fmt.Errorf("unknown form %d", data[0])
	}
	r := recordReader{data: data[1:]}
	w := &work{Gen: r.number(), Token: r.number(), Until: r.number(), Again: r.number(), Place: place(r.number())}
	w.Bulk, w.Due, w.Attempts = r.number() == 1, r.number(), int(r.number())
	w.Service, w.Reason = string(r.part()), string(r.part())
	for range r.count() {
		if w.Inbox == nil {
			w.Inbox = map[mapping.Ref]slot{}
		}
		ref := mapping.Ref(r.part())
		s := slot{Gen: r.number(), At: r.number(), Ambiguous: r.number() == 1, Seen: r.number()}
		s.Digest, s.Data = string(r.part()), bytes.Clone(r.part())
		w.Inbox[ref] = s
	}
	for range r.count() {
		w.Events = append(w.Events, event{Gen: r.number()})
	}
	return w, r.err
}

// recordReader reads a record from the front; after an error all is zero.
type recordReader struct {
	data []byte
	err  error
}

func (r *recordReader) cut() { r.data, r.err = nil, errCut }

func (r *recordReader) number() int64 {
	n, size := binary.Varint(r.data)
	if size <= 0 {
		r.cut()
		return 0
	}
	r.data = r.data[size:]
	return n
}

// count is a number of things of which each takes a byte at least.
func (r *recordReader) count() int64 {
	n := r.number()
	if n < 0 || n > int64(len(r.data)) {
		r.cut()
		return 0
	}
	return n
}

func (r *recordReader) part() []byte {
	n, size := binary.Uvarint(r.data)
	if size <= 0 || n > uint64(len(r.data)-size) {
		r.cut()
		return nil
	}
	part := r.data[size : size+int(n)]
	r.data = r.data[size+int(n):]
	return part
}
