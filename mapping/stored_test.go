package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// TestPartingIsStored has a row for each step in which an operator takes a pair apart.
func TestPartingIsStored(t *testing.T) {
	t.Parallel()
	for field, l := range map[string]Link{
		`"parted":true`:   {Parted: true},
		`"cleaning":true`: {Cleaning: true},
		`"clean":true`:    {Clean: true},
	} {
		data, err := json.Marshal(l)
		if err != nil || strings.Count(string(data), ":true") != 1 || !strings.Contains(string(data), field) {
			t.Errorf("%s is stored as %s, %v", field, data, err)
		}
		var again Link
		if err := json.Unmarshal(data, &again); err != nil || again.Parted != l.Parted || again.Cleaning != l.Cleaning || again.Clean != l.Clean {
			t.Errorf("%s is read as %t, %t, %t, %v", field, again.Parted, again.Cleaning, again.Clean, err)
		}
	}
}

// fill sets every field of a value, of lists and tables one entry, each to something of its own.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("s", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, n)
		fill(t, value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(noon.Add(time.Duration(*n) * time.Second)))
			return
		}
		for _, field := range v.Fields() {
			fill(t, field, n)
		}
	default:
		t.Fatalf("a record has a %s, which this test does not know", v.Kind())
	}
}

// TestRecordsComeBackWhole: a written record is read back unchanged. The root and its sub-issues
// keep every field. A task without an issue keeps those of its form. A second write gives the same
// bytes.
func TestRecordsComeBackWhole(t *testing.T) {
	t.Parallel()
	var l Link
	n := 0
	fill(t, reflect.ValueOf(&l).Elem(), &n)
	l.Kind, l.Item = Root, ""
	sub := l.SubLinks[0]
	sub.Kind, sub.Item = SubIssue, ""
	whole := l.Children[0]
	l.Children[0] = &Pair{
		Kind: Checklist, State: whole.State, Origin: whole.Origin, Nonce: whole.Nonce, Item: whole.Item, Card: CardID{ID: whole.Card.ID, CID: whole.Card.CID},
		Base: whole.Base, Journal: Journal{Pending: whole.Pending, InFlight: whole.InFlight}, Intent: whole.Intent, Disputes: whole.Disputes,
		Reads: Reads{GoneSince: whole.GoneSince}, Mark: whole.Mark,
	}
	data, err := json.Marshal(&l)
	if err != nil {
		t.Fatal(err)
	}
	var again Link
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l, again); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	if twice, err := json.Marshal(&again); err != nil || !bytes.Equal(twice, data) {
		t.Errorf("written again: %v\n%s\n%s", err, data, twice)
	}
	if err := json.Unmarshal([]byte(`{"id":1}`), &again); err == nil {
		t.Error("a record of another form is read")
	}
}
