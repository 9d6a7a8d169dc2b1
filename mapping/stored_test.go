package mapping

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// forgotten is what nothing reads any more: when the lookup for a create began.
var forgotten = regexp.MustCompile(`"looked":"[^"]*",`)

// TestRecordsKeepTheirStoredForm: records that a release before [Pair] wrote are read and
// written again to the same bytes, less what is forgotten. One of them has each field that
// there was.
func TestRecordsKeepTheirStoredForm(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/records.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[PairKind]int{}
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		var l Link
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		for _, p := range l.All() {
			kinds[p.Kind]++
		}
		line = forgotten.ReplaceAll(line, nil)
		again, err := json.Marshal(&l)
		if err != nil || !bytes.Equal(again, line) {
			t.Errorf("link %s is written as\n%s\nwant\n%s\n%v", l.ID, again, line, err)
		}
		if byValue, err := json.Marshal(l); err != nil || !bytes.Equal(byValue, line) {
			t.Errorf("link %s has another form as a value: %v", l.ID, err)
		}
	}
	for _, kind := range []PairKind{Root, SubIssue, Tracking, Checklist} {
		if kinds[kind] == 0 {
			t.Errorf("no record has a pair of kind %q", kind)
		}
	}
}

// TestAPartForgetsWhatItNeverShows: an earlier release noted in some parts what their task
// would show, which nothing reads.
func TestAPartForgetsWhatItNeverShows(t *testing.T) {
	t.Parallel()
	plain := `{"id":"l","project":"p","route":"r","state":"linked","origin":"github","nonce":"n","issue":{"id":2},"card":{"id":"t"},"task":true,"created":"2026-01-02T03:04:05Z"}`
	record := `{"id":"l","project":"p","route":"r","state":"linked","origin":"github","nonce":"m","issue":{"id":1},"card":{"id":"c"},"parts":[` + plain + `],"created":"2026-01-02T03:04:05Z"}`
	var l Link
	if err := json.Unmarshal([]byte(strings.Replace(record, `"task":true`, `"task":true,"shown":{"status":"x"}`, 1)), &l); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(&l); err != nil || string(got) != record {
		t.Errorf("%s, %v, want\n%s", got, err, record)
	}
}
