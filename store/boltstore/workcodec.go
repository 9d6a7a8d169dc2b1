package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"planbridge/mapping"
	"planbridge/store/internal/queue"
)

// formBinary is the form of a work's record: the form byte, then numbers as varints and texts
// after their lengths, in the order of encodeWork. Each observation writes the record, and a
// webhook waits for that. The record has only the numbers of events. Each event has a record of
// its own, so that a new event does not rewrite the waiting ones.
const formBinary = 2

// formClaimed is formBinary with the counts of claims at the end. A key without a claim since its
// last success has formBinary, as earlier programs wrote it.
const formClaimed = 3

// formOwn is formClaimed with the events of the bridge's own account at the end. A key without
// such events has one of the other forms.
const formOwn = 4

// errCut says that a record is shorter than its lengths say.
var errCut = errors.New("record is cut")

// encodeWork makes a record.
func encodeWork(w queue.Work) []byte {
	size := 128
	for _, s := range w.Inbox {
		size += 128 + len(s.Data)
	}
	b := append(make([]byte, 0, size), formBinary)
	b = appendNumbers(b, w.Gen, w.Token, w.Until, w.Again, int64(w.Place), number(w.Bulk), w.Due, int64(w.Attempts))
	b = appendPart(appendPart(b, w.Service), w.Reason)
	b = appendNumbers(b, int64(len(w.Inbox)))
	for _, s := range w.Inbox {
		b = appendNumbers(appendPart(b, s.Item), s.Gen, s.At, number(s.Ambiguous), s.Seen)
		b = appendPart(appendPart(b, s.Digest), s.Data)
	}
	b = appendNumbers(b, int64(len(w.Events)))
	for _, e := range w.Events {
		b = appendNumbers(b, e.Gen)
	}
	if w.Open != 0 || w.Abandoned != 0 || len(w.Own) > 0 {
		b[0] = formClaimed
		b = appendNumbers(b, int64(w.Open), int64(w.Abandoned))
	}
	if len(w.Own) > 0 {
		b[0] = formOwn
		b = appendNumbers(b, int64(len(w.Own)))
		for _, e := range w.Own {
			b = appendNumbers(b, e.Gen)
		}
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

// decodeWork reads a record. It keeps no reference to data.
func decodeWork(data []byte) (w queue.Work, err error) {
	switch data[0] {
	case '{', formParts:
		return decodeWork1(data)
	case formBinary, formClaimed, formOwn:
	default:
		return w, fmt.Errorf("unknown form %d", data[0])
	}
	r := recordReader{data: data[1:]}
	w.Gen, w.Token, w.Until, w.Again, w.Place = r.number(), r.number(), r.number(), r.number(), queue.Place(r.number())
	w.Bulk, w.Due, w.Attempts = r.number() == 1, r.number(), int(r.number())
	w.Service, w.Reason = string(r.part()), string(r.part())
	for range r.count() {
		s := queue.Slot{Item: mapping.Ref(r.part()), Gen: r.number(), At: r.number(), Ambiguous: r.number() == 1, Seen: r.number()}
		s.Digest, s.Data = string(r.part()), bytes.Clone(r.part())
		w.Inbox = append(w.Inbox, s)
	}
	for range r.count() {
		w.Events = append(w.Events, queue.Event{Gen: r.number()})
	}
	if data[0] != formBinary {
		w.Open, w.Abandoned = int(r.number()), int(r.number())
	}
	if data[0] == formOwn {
		for range r.count() {
			w.Own = append(w.Own, queue.Event{Gen: r.number()})
		}
	}
	return w, r.err
}

// recordReader reads a record from the front. After an error it reads zeros.
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

// count reads a number of elements, each of at least one byte.
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
