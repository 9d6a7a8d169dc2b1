package boltstore

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/store/internal/queue"
)

func TestWorkReturns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 1, 40)
		w := queue.Work{Gen: rapid.Int64().Draw(t, "gen"), Place: queue.Queued, Reason: "why", Open: rapid.IntRange(0, 2).Draw(t, "open"), Abandoned: rapid.IntRange(0, 300).Draw(t, "abandoned")}
		for i := range rapid.IntRange(0, 4).Draw(t, "slots") {
			w.Inbox = append(w.Inbox, queue.Slot{Item: mapping.IssueRef(int64(i)), At: int64(i), Digest: "d", Data: data.Draw(t, "data")})
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "events") {
			w.Events = append(w.Events, queue.Event{Gen: int64(i)})
		}
		record := encodeWork(w)
		back, err := decodeWork(record)
		if err != nil || !reflect.DeepEqual(w, back) {
			t.Fatalf("%+v came back as %+v, %v", w, back, err)
		}
		cut := record[:rapid.IntRange(1, len(record)-1).Draw(t, "cut")]
		if _, err := decodeWork(cut); err == nil {
			t.Fatalf("took %d of %d bytes", len(cut), len(record))
		}
	})
}

// The form that earlier programs stored.
func TestWorkOfEarlierPrograms(t *testing.T) {
	w, err := decodeWork([]byte(`{"g":3,"p":1,"d":7,"i":{"issue:1":{"g":2,"at":5,"d":"x","b":"aGVsbG8=","s":1}},"e":[{"g":1,"b":"d29ybGQ="}]}`))
	if err != nil {
		t.Fatal(err)
	}
	head := `{"g":3,"p":1,"d":7,"i":{"issue:1":{"g":2,"at":5,"d":"x","b":5,"s":1}},"e":[{"g":1,"b":5}]}`
	parts, err := decodeWork([]byte("\x01" + string(rune(len(head))) + head + "helloworld"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []queue.Work{w, parts} {
		if s := w.Inbox[0]; s.Item != "issue:1" || string(s.Data) != "hello" || string(w.Events[0].Data) != "world" || w.Gen != 3 || w.Place != queue.Queued {
			t.Errorf("read %+v", w)
		}
	}
}

func TestWorkThatIsNone(t *testing.T) {
	for _, record := range []string{"\x03", "\x04", "\x02", "\x02\x01", "\x01", "\x01\x05{}", "\x01\x10{\"e\":[{\"b\":-1}]}", "\x01\x0f{\"e\":[{\"b\":9}]}short", "{"} {
		if w, err := decodeWork([]byte(record)); err == nil {
			t.Errorf("%q was read as %+v", record, w)
		}
	}
}
