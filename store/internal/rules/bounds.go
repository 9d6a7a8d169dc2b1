package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"

	"planbridge/mapping"
	"planbridge/store"
)

// EncodeLink encodes the record of a link in JSON. It refuses one over its bound with a
// [store.SizeError].
func EncodeLink(l *mapping.Link) ([]byte, error) {
	data, err := l.MarshalJSON() // of which json.Marshal would make a copy
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return data, checkRecord(data)
}

// checkRecord measures a record in the same way for all back ends, whatever their form. A small
// one is not measured, as compression makes it smaller still.
func checkRecord(data []byte) error {
	if len(data) <= mapping.MaxRecord {
		return nil
	}
	if len(data) > mapping.MaxPlainRecord {
		return &store.SizeError{Size: len(data), Bound: mapping.MaxPlainRecord, As: "of JSON"}
	}
	size, err := compressedSize(data)
	if err == nil && size > mapping.MaxRecord {
		err = &store.SizeError{Size: size, Bound: mapping.MaxRecord, As: "after compression"}
	}
	return err
}

func compressedSize(data []byte) (int, error) {
	var n counter
	w, err := flate.NewWriter(&n, flate.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return 0, fmt.Errorf("measure a record: %w", err)
	}
	return int(n), nil
}

// counter counts the bytes that are written to it.
type counter int

func (n *counter) Write(p []byte) (int, error) {
	*n += counter(len(p))
	return len(p), nil
}

// EncodeHistory makes records of a history's entries.
func EncodeHistory(entries []mapping.Entry) ([]json.RawMessage, error) {
	var all []json.RawMessage
	for _, e := range entries {
		e.Why = cut(e.Why, mapping.MaxWhy)
		data, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("encode: %w", err)
		}
		all = append(all, data)
	}
	return BoundHistory(all), nil
}

// Probe is the size of a write that proves that a store has room again: that of a large record.
const Probe = mapping.MaxRecord

// BoundHistory returns the part of a history to keep, oldest first: the newest entries within the
// bounds, and always the newest one.
func BoundHistory(all []json.RawMessage) []json.RawMessage {
	all = all[max(0, len(all)-mapping.MaxHistory):]
	size := 0
	for i, entry := range slices.Backward(all) {
		if size += len(entry); size > mapping.MaxHistoryBytes && i < len(all)-1 {
			return all[i+1:]
		}
	}
	return all
}

// SettleHistory removes details that are useless once deliveries are forgotten: the delivery, and
// fractions of a second.
func SettleHistory(all []json.RawMessage, now time.Time) ([]json.RawMessage, error) {
	entries, err := DecodeHistory(all)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		if e := &entries[i]; now.Sub(e.At) > Deliveries {
			e.At, e.Delivery = e.At.Truncate(time.Second), ""
		}
	}
	return EncodeHistory(entries)
}

// DecodeHistory reads a history's entries.
func DecodeHistory(all []json.RawMessage) ([]mapping.Entry, error) {
	var entries []mapping.Entry
	for _, data := range all {
		var e mapping.Entry
		if err := json.Unmarshal(data, &e); err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// cut cuts a text to a number of bytes and marks the cut. Cutting again changes nothing.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const sign = "…"
	return strings.ToValidUTF8(text[:most-len(sign)], "") + sign
}
