package planning

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
)

// seeds are the spellings that the tables of this package know.
func seeds(f *testing.F) {
	for _, s := range []string{
		fullCard, fullTask, sprintJSON, projectJSON, `[{"bucket":"In","id":{"$oid":"b1"},"items":[` + fullCard + `,{"_id":"c2"}]}]`,
		`{}`, `null`, `[]`, ``, `[[[`, `{"_id":"c","title":"bare","summary":"","estimate":null,"cid":"7","version":1.0}`,
		`{"_id":"c","summary":{"value":{"markdown":"a\u2028\ud800","html":null},"version":"2"}}`,
		`{"title":{"value":"theirs","version":7}}`, `{"errors":[{"field":"title","value":1,"version":-1}]}`, `{"error":{"x":["y"]}}`,
		`{"_id":"c","tasks":[{"_id":"t"}],"timeRemaining":[],"users":[{"user":"u"}],"owner":{"value":"c","version":0}}`,
		"{\"_id\":\"\xff\",\"title\":{\"value\":\"\x01\"}}", `{"_id":"c","_id":"d","CID":1}`, `[{"items":[],"id":"b"}] x`,
	} {
		f.Add([]byte(s))
	}
}

// FuzzCard: the client's library and encoding/json read the same card from
// the same bytes, or both refuse them.
func FuzzCard(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		compare[wireCard](t, data)
		compare[wireTask](t, data)
		compare[wireSprint](t, data)
		compare[[]entry](t, data)
	})
}

func compare[T any](t *testing.T, data []byte) {
	t.Helper()
	var ours, theirs T
	err, stdErr := json.Unmarshal(data, &ours), stdjson.Unmarshal(data, &theirs)
	if (err == nil) != (stdErr == nil) {
		t.Fatalf("%T of %q: %v, encoding/json: %v", ours, data, err, stdErr)
	}
	if err != nil {
		return
	}
	if diff := cmp.Diff(theirs, ours, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Fatalf("%T of %q: %s", ours, data, diff)
	}
}

// FuzzMembers: taking valid objects apart gives what encoding/json gives, and
// what is not valid neither panics nor loops.
func FuzzMembers(f *testing.F) {
	seeds(f)
	f.Add([]byte(`{ "a\"b" : "\\" , "\u0061":[{"}":"]"},-1.5e3] ,"":null, "x" :{ } }`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]stdjson.RawMessage{}
		n := 0
		data = bytes.TrimSpace(data)
		for key, value := range members(data) {
			if n++; n > len(data) {
				t.Fatalf("%q: more members than bytes", data)
			}
			got[string(key)] = value
		}
		var want map[string]stdjson.RawMessage
		if stdjson.Unmarshal(data, &want) != nil {
			return
		}
		if want == nil {
			want = map[string]stdjson.RawMessage{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: %s", data, diff)
		}
	})
}

// FuzzBacklog: the stream of cards is what encoding/json reads, and what is no JSON is
// refused.
func FuzzBacklog(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var ours []mapping.Card
		err := readBacklog(newStream(iotest.OneByteReader(bytes.NewReader(data))), nil, func(*openBucket) error { return nil },
			func(_ *openBucket, c mapping.Card) error { ours = append(ours, c); return nil })
		theirs, stdErr := standardBacklog(data)
		if (err == nil) != (stdErr == nil) {
			t.Fatalf("%q: %v, encoding/json: %v", data, err, stdErr)
		}
		if err != nil {
			return
		}
		if !stdjson.Valid(data) {
			t.Fatalf("%q is no JSON and was read", data)
		}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Fatalf("%q: %s", data, diff)
		}
	})
}

// standardBacklog reads a backlog by encoding/json alone.
func standardBacklog(data []byte) (all []mapping.Card, err error) {
	d := stdjson.NewDecoder(bytes.NewReader(data))
	each := func(begin stdjson.Delim, do func() error) error {
		if t, err := d.Token(); err != nil || t != begin {
			return fmt.Errorf("%v where %v was expected: %w", t, begin, errNotJSON)
		}
		for d.More() {
			if err := do(); err != nil {
				return err
			}
		}
		_, err := d.Token()
		return err
	}
	err = each('[', func() error {
		b := &openBucket{open: func(*openBucket) error { return nil }, visit: func(_ *openBucket, c mapping.Card) error { all = append(all, c); return nil }}
		err := each('{', func() error {
			key, err := d.Token()
			if err != nil {
				return err
			}
			var items []wireCard
			var ignored stdjson.RawMessage
			to, ok := map[any]any{"id": &b.ID, "_id": &b.XID, "bucket": &b.Name, "title": &b.Title, "items": &items}[key]
			if !ok {
				to = &ignored
			}
			if err := d.Decode(to); err != nil {
				return err
			}
			for i := range items {
				if err := b.card(&items[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return b.flush()
	})
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotJSON
	}
	return all, nil
}

// FuzzValue: a value ends where encoding/json finds its end, and what is no JSON is none.
func FuzzValue(f *testing.F) {
	seeds(f)
	for _, s := range []string{`"\u00e9\n"`, `-0.5E+3`, `01`, `"\x"`, "\"\x1f\"", `[1,]`, `{"a":1,}`, `tru`, `1.`, `1e`, `{"a" 1}`, `"0123456789\"0123456789"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.Trim(data, " \n\r\t")
		n := anyValue(append(slices.Clip(data), '\n'))
		if got, want := n == len(data) && n > 0, stdjson.Valid(data); got != want {
			t.Fatalf("%q ends at %d of %d, encoding/json: %t", data, n, len(data), want)
		}
		if n < 0 {
			return
		}
		if i := skipValue(data[:n], 0, 0); i != n && i != short {
			t.Fatalf("%q ends at %d alone, at %d before a line's end", data[:n], i, n)
		}
		for i := range min(n, 40) {
			if got := anyValue(data[:i]); got != short {
				t.Fatalf("the first %d bytes of %q end at %d", i, data, got)
			}
		}
	})
}

// FuzzOutline: the id that is found without decoding is that of the decoded card, and the
// card's text without its place says the same card.
func FuzzOutline(f *testing.F) {
	seeds(f)
	for _, s := range []string{`{"_order":1}`, `{ "_order":1 , "_id":"c"}`, `{"_id":{"$oid":"c"},"_order":12345678}`, `{"_id":"c","_order":1,"title":"t"}`, `{"_order":[1],"_order":2,"_id":{"$oid":"a","$oid":"b"}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.TrimSpace(data)
		var before, after wireCard
		if len(data) == 0 || !stdjson.Valid(data) || before.UnmarshalJSON(data) != nil {
			return
		}
		var o outline
		if n := o.skip(data); n != len(data) {
			t.Fatalf("%q ends at %d", data, n)
		}
		text, id := o.withoutOrder(bytes.Clone(data))
		if !stdjson.Valid(text) || after.UnmarshalJSON(text) != nil {
			t.Fatalf("%q became %q", data, text)
		}
		if diff := cmp.Diff(before, after, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Fatalf("%q: %s", data, diff)
		}
		if len(id) > 0 && string(id) != string(before.ID) && !bytes.Contains(data, []byte(`\u`)) {
			t.Fatalf("%q has the id %q, want %q", data, id, before.ID)
		}
	})
}

// FuzzJudge: no answer to an update crashes its reading, and its result about values concerns only
// sent values. An answer with exactly the sent values is never a conflict.
func FuzzJudge(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &Client{}
		c.SetSecret(testSecret)
		u := Write{ID: cardID, Username: "u", Card: true, Set: set{mapping.Title: {Value: "mine", Version: 3}, mapping.Estimate: {Value: "2", Version: 0}}}
		for _, status := range []int{200, 400, 409, 500} {
			done, err := u.Judge(u.read(status, data, c.errorMessage))
			for attr := range done.Values {
				if !u.writable(attr) {
					t.Fatalf("%q: %s", data, attr)
				}
			}
			if err != nil && (done.Values != nil || done.Version != 0) {
				t.Fatalf("%q: values beside %v", data, err)
			}
		}
		if n := len([]rune(c.errorMessage(data))); n > maxWords {
			t.Fatalf("%d characters", n)
		}
	})
}
