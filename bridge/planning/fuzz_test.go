package planning

import (
	"bytes"
	stdjson "encoding/json"
	"reflect"
	"testing"

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

// FuzzBacklog: the stream of cards is the same with either library, and what
// is read is what reading it as a whole gives.
func FuzzBacklog(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(d decoder) (all []mapping.Card, err error) {
			err = decodeBacklog(d, nil, func(*openBucket) error { return nil },
				func(_ *openBucket, c mapping.Card) error { all = append(all, c); return nil })
			return all, err
		}
		ours, err := read(json.NewDecoder(bytes.NewReader(data)))
		theirs, stdErr := read(stdjson.NewDecoder(bytes.NewReader(data)))
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

// FuzzJudge: no answer to an update crashes its reading, what it says about
// values is about what was sent, and a conflict is never seen in an answer
// that carries just what was sent.
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
