package boltstore

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"

	"planbridge/mapping"
	"planbridge/store/internal/queue"
)

// The forms of a work's record in files of schema 1, which can still be read:
//
//	{ …                 wholly JSON
//	1, length of the head (uvarint), head, data   the head is JSON with the lengths of the data
//
// The data is that of the inbox in the order of its refs, then that of the events.
const formParts = 1

// maxBlob is more than any observation has.
const maxBlob = 1 << 30

// blob is data after the head. The head has its length.
type blob []byte

// UnmarshalJSON implements json.Unmarshaler. It allocates a given length, which decodeWork1
// fills.
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

// work1 is the JSON of these forms.
type work1 struct {
	Gen      int64                 `json:"g"`
	Token    int64                 `json:"t"`
	Until    int64                 `json:"u"`
	Again    int64                 `json:"n"`
	Place    queue.Place           `json:"p"`
	Bulk     bool                  `json:"b"`
	Due      int64                 `json:"d"`
	Service  string                `json:"s"`
	Reason   string                `json:"r"`
	Attempts int                   `json:"a"`
	Inbox    map[mapping.Ref]slot1 `json:"i"`
	Events   []event1              `json:"e"`
}

type slot1 struct {
	Gen       int64  `json:"g"`
	At        int64  `json:"at"`
	Digest    string `json:"d"`
	Ambiguous bool   `json:"m"`
	Data      blob   `json:"b"`
	Seen      int64  `json:"s"`
}

type event1 struct {
	Gen  int64 `json:"g"`
	Data blob  `json:"b"`
}

func decodeWork1(data []byte) (queue.Work, error) {
	var w work1
	head, parts := data, []byte(nil)
	if !bytes.HasPrefix(data, []byte("{")) {
		length, n := binary.Uvarint(data[1:])
		if n <= 0 || length > uint64(len(data)-1-n) {
			return queue.Work{}, errCut
		}
		head, parts = data[1+n:1+n+int(length)], data[1+n+int(length):]
	}
	if err := json.Unmarshal(head, &w); err != nil {
		return queue.Work{}, err
	}
	if parts != nil {
		if err := w.fill(parts); err != nil {
			return queue.Work{}, err
		}
	}
	return w.work(), nil
}

// fill copies the data after the head into the blobs.
func (w *work1) fill(parts []byte) error {
	blobs := make([]blob, 0, len(w.Inbox)+len(w.Events))
	for _, ref := range slices.Sorted(maps.Keys(w.Inbox)) {
		blobs = append(blobs, w.Inbox[ref].Data)
	}
	for _, e := range w.Events {
		blobs = append(blobs, e.Data)
	}
	for _, b := range blobs {
		if len(b) > len(parts) {
			return errCut
		}
		parts = parts[copy(b, parts):]
	}
	return nil
}

func (w *work1) work() queue.Work {
	now := queue.Work{
		Gen: w.Gen, Token: w.Token, Until: w.Until, Again: w.Again, Place: w.Place, Bulk: w.Bulk,
		Due: w.Due, Service: w.Service, Reason: w.Reason, Attempts: w.Attempts,
	}
	for _, ref := range slices.Sorted(maps.Keys(w.Inbox)) {
		s := w.Inbox[ref]
		now.Inbox = append(now.Inbox, queue.Slot{Item: ref, Gen: s.Gen, At: s.At, Digest: s.Digest, Ambiguous: s.Ambiguous, Data: s.Data, Seen: s.Seen})
	}
	for _, e := range w.Events {
		now.Events = append(now.Events, queue.Event{Gen: e.Gen, Data: e.Data})
	}
	return now
}
