package boltstore

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
)

// The forms of a work's record in files of schema 1, which are read still:
//
//	{ …                 wholly JSON
//	1, length of the head (uvarint), head, data   the head is JSON and tells the lengths of the data
//
// The data is that of the inbox in the order of its refs, then that of the
// events.
const formParts = 1

// maxBlob is beyond what any observation carries.
const maxBlob = 1 << 30

// blob is data that stands behind the head; in the head it is its length.
type blob []byte

// UnmarshalJSON implements json.Unmarshaler. Of a length it makes so much room,
// which decodeWork1 fills.
func (b *blob) UnmarshalJSON(raw []byte) error {
	var n int
	if json.Unmarshal(raw, &n) != nil {
		return json.Unmarshal(raw, (*[]byte)(b))
	}
	if n < 0 || n > maxBlob {
		return errCut
	}
	*b = make(blob, n)
	return nil
}

func decodeWork1(data []byte) (*work, error) {
	w := new(work)
	if bytes.HasPrefix(data, []byte("{")) {
		return w, json.Unmarshal(data, w)
	}
	length, n := binary.Uvarint(data[1:])
	if n <= 0 || length > uint64(len(data)-1-n) {
		return nil, errCut
	}
	head, parts := data[1+n:1+n+int(length)], data[1+n+int(length):]
	if err := json.Unmarshal(head, w); err != nil {
		return nil, err
	}
	fill := func(b blob) error {
		if len(b) > len(parts) {
			return errCut
		}
		parts = parts[copy(b, parts):]
		return nil
	}
	for _, ref := range slices.Sorted(maps.Keys(w.Inbox)) {
		if err := fill(w.Inbox[ref].Data); err != nil {
			return nil, err
		}
	}
	for _, e := range w.Events {
		if err := fill(e.Data); err != nil {
			return nil, err
		}
	}
	return w, nil
}
