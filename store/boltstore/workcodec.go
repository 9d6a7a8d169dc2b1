package boltstore

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A work's record is a head in JSON and then, as they are, the snapshots and
// events that the head tells the lengths of: an observation rewrites the record,
// and most of it is payloads that need not be gone through for that.
//
//	formParts, length of the head (uvarint), head, data of the inbox in the order
//	of its refs, data of the events
//
// A record that begins with { is wholly JSON, with the data in it: the form of
// earlier programs, which is read still.
const formParts = 1

// maxBlob is beyond what any observation carries.
const maxBlob = 1 << 30

// errParts: a record is shorter than its head says.
var errParts = errors.New("record is cut")

// blob is data that stands behind the head; in the head it is its length.
type blob []byte

// MarshalJSON implements json.Marshaler.
func (b blob) MarshalJSON() ([]byte, error) { return json.Marshal(len(b)) }

// UnmarshalJSON implements json.Unmarshaler. Of a length it makes so much room,
// which decodeWork fills.
func (b *blob) UnmarshalJSON(raw []byte) error {
	var n int
	if json.Unmarshal(raw, &n) != nil {
		return json.Unmarshal(raw, (*[]byte)(b))
	}
	if n < 0 || n > maxBlob {
		return errParts
	}
	*b = make(blob, n)
	return nil
}

// encodeWork makes a record.
func encodeWork(w *work) ([]byte, error) {
	head, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	data := binary.AppendUvarint([]byte{formParts}, uint64(len(head)))
	data = append(data, head...)
	for b := range w.blobs {
		data = append(data, *b...)
	}
	return data, nil
}

// decodeWork reads a record, which it does not keep.
func decodeWork(data []byte) (*work, error) {
	w := new(work)
	if bytes.HasPrefix(data, []byte("{")) {
		return w, json.Unmarshal(data, w)
	}
	if data[0] != formParts {
		return nil, fmt.Errorf("unknown form %d", data[0])
	}
	length, n := binary.Uvarint(data[1:])
	if n <= 0 || length > uint64(len(data)-1-n) {
		return nil, errParts
	}
	head, parts := data[1+n:1+n+int(length)], data[1+n+int(length):]
	if err := json.Unmarshal(head, w); err != nil {
		return nil, err
	}
	for b := range w.blobs {
		if len(*b) > len(parts) {
			return nil, errParts
		}
		parts = parts[copy(*b, parts):]
	}
	return w, nil
}

// blobs goes through all data in the order of the record. What is done to one
// stays.
func (w *work) blobs(yield func(*blob) bool) {
	for _, ref := range slices.Sorted(maps.Keys(w.Inbox)) {
		s := w.Inbox[ref]
		ok := yield(&s.Data)
		if w.Inbox[ref] = s; !ok {
			return
		}
	}
	for i := range w.Events {
		if !yield(&w.Events[i].Data) {
			return
		}
	}
}
