package planning

import (
	stdjson "encoding/json"
	"math"
	"testing"
	"time"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
)

// decode reads one value with the library the client uses.
func decode[T any](t *testing.T, raw string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func TestIntegerSpellings(t *testing.T) {
	for raw, want := range map[string]int64{
		`7`: 7, `7.0`: 7, `"7"`: 7, `" 7 "`: 7, `"7.0"`: 7, `7e0`: 7, `-1`: -1, `0`: 0, `null`: 0, `""`: 0,
		`9007199254740993`: 9007199254740993, `7.5`: 0, `1e300`: 0, `"x"`: 0, `{}`: 0, `[]`: 0, `[7]`: 0, `true`: 0,
	} {
		if got := decode[integer](t, raw); int64(got) != want {
			t.Errorf("integer %s = %d, want %d", raw, got, want)
		}
	}
}

func TestNumberSpellings(t *testing.T) {
	for raw, want := range map[string]string{
		`3`: "3", `3.0`: "3", `"3"`: "3", `0.50`: "0.5", `"0.083"`: "0.083", `1e2`: "100", `-2`: "-2", `-0`: "0",
		`0`: "0", `null`: "", `""`: "", `"XL"`: "XL", `{}`: "", `[1]`: "",
	} {
		if got := decode[number](t, raw); string(got) != want {
			t.Errorf("number %s = %q, want %q", raw, got, want)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for in, want := range map[string]string{"3": "3", " 0.50 ": "0.5", "+4": "4", "1e3": "1000", "-0.0": "0", "007": "7"} {
		if got, ok := ParseNumber(in); !ok || got != want {
			t.Errorf("ParseNumber(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "x", "NaN", "Inf", "-Infinity", "1e15", "0x10", "1_000", "1,5", "½"} {
		if got, ok := ParseNumber(in); ok {
			t.Errorf("ParseNumber(%q) = %q, want none", in, got)
		}
	}
}

func TestRichSpellings(t *testing.T) {
	for raw, want := range map[string]string{
		`""`: "", `null`: "", `{}`: "", `"plain"`: "plain",
		`{"markdown":"*a*"}`: "*a*", `{"markdown":"*a*","html":"<p><em>a</em></p>"}`: "*a*",
		`{"markdown":"","html":"<p></p>"}`: "", `{"markdown":null,"html":"<b>x</b>"}`: "<b>x</b>",
		`{"html":"<b>x</b>","extra":[1]}`: "<b>x</b>", `[]`: "", `7`: "7", `{"markdown":{"x":1}}`: "",
		`"a\u0000\ud83d\ude00\n"`: "a\x00😀\n",
	} {
		if got := decode[rich](t, raw); string(got) != want {
			t.Errorf("rich %s = %q, want %q", raw, got, want)
		}
	}
}

func TestObjectIDSpellings(t *testing.T) {
	for raw, want := range map[string]string{
		`{"$oid":"5447"}`: "5447", `"5447"`: "5447", `null`: "", `{}`: "", `""`: "", `5447`: "5447", `[]`: "",
		`{"$oid":null}`: "", `{ "x" : 1, "$oid" : "5447" }`: "5447",
	} {
		if got := decode[oid](t, raw); string(got) != want {
			t.Errorf("oid %s = %q, want %q", raw, got, want)
		}
	}
}

func TestBucketStateSpellings(t *testing.T) {
	for raw, want := range map[string]string{
		`{"$oid":"b1"}`: "b1", `"` + bucketID + `"`: bucketID, `"in-progress"`: "", `null`: "", `""`: "", `"done"`: "",
	} {
		if got := decode[bucketState](t, raw); string(got) != want {
			t.Errorf("state %s = %q, want %q", raw, got, want)
		}
	}
}

func TestTimestampSpellings(t *testing.T) {
	moment := time.Date(2014, 11, 25, 8, 30, 0, 123e6, time.UTC)
	for raw, want := range map[string]time.Time{
		`{"$date":"2014-11-25T08:30:00.123Z"}`:      moment,
		`"2014-11-25T08:30:00.123Z"`:                moment,
		`{"$date":"2014-11-25T09:30:00.123+01:00"}`: moment,
		`{"$date":1416904200123}`:                   moment,
		`1416904200123`:                             moment,
		`1416904200123.0`:                           moment,
		`{"$date":"1416904200123"}`:                 moment,
		`{"$date":{"$numberLong":"1416904200123"}}`: moment,
		`"2014-11-25T08:30:00.123"`:                 moment,
		`"2014-11-25"`:                              moment.Truncate(24 * time.Hour),
		`null`:                                      {},
		`""`:                                        {},
		`{}`:                                        {},
		`{"$date":null}`:                            {},
		`"soon"`:                                    {},
		`[1]`:                                       {},
		`{"$date":{"$date":{"$date":{"$date":1416904200123}}}}`: {},
	} {
		if got := time.Time(decode[stamp](t, raw)); !got.Equal(want) {
			t.Errorf("timestamp %s = %v, want %v", raw, got, want)
		}
	}
}

func TestFlagSpellings(t *testing.T) {
	for raw, want := range map[string]bool{
		`true`: true, `false`: false, `"true"`: true, `1`: true, `0`: false, `null`: false, `{}`: false, `"yes"`: false,
	} {
		if got := decode[flag](t, raw); bool(got) != want {
			t.Errorf("flag %s = %v, want %v", raw, got, want)
		}
	}
}

func TestVersionedSpellings(t *testing.T) {
	for raw, want := range map[string]versioned[rich]{
		`{"value":"a","version":3}`:                {"a", 3, true},
		`{"version":3.0,"value":{"markdown":""}}`:  {"", 3, true},
		`{"value":{"markdown":"m"},"version":"4"}`: {"m", 4, true},
		`{"value":null,"version":2}`:               {"", 2, true},
		`{"version":2}`:                            {"", 2, true},
		`{"value":"a"}`:                            {"a", 0, true},
		`"a"`:                                      {"a", 0, true},
		`{"markdown":"m"}`:                         {"m", 0, true},
		`null`:                                     {},
		`{}`:                                       {"", 0, true},
		`""`:                                       {"", 0, true},
		`{"value":"a","version":1,"who":{"x":[]}}`: {"a", 1, true},
		`{"value":"a","version":null}`:             {"a", 0, true},
	} {
		if got := decode[versioned[rich]](t, raw); got != want {
			t.Errorf("versioned %s = %+v, want %+v", raw, got, want)
		}
	}
}

// fullCard is a card as docs/planning-api.md 2.4 has it.
const fullCard = `{"_id":{"$oid":"` + cardID + `"},"cid":12,"estimate":{"value":5,"version":1},"isStandaloneTP":false,
"iteration":{"value":{"$oid":"` + sprintID + `"},"version":2},"iterationReview":{"value":"Approved","version":1},
"order":{"value":"000000001.0","version":0},"owner":{"value":null,"version":0},"ownerType":{"value":null,"version":0},
"project":{"value":{"$oid":"` + testProject + `"},"version":0},"state":{"value":{"$oid":"` + bucketID + `"},"version":3},
"summary":{"value":{"markdown":"*hi*","html":"<p><em>hi</em></p>"},"version":4},
"taskCounters":{"value":{"done":1,"todo":0,"inProgress":1.0,"total":2,"status":"in-progress"},"version":6},
"title":{"value":"A card","version":7},"totalAttachments":{"value":0,"version":0},"totalComments":{"value":null,"version":0},
"type":{"value":{"version":0},"version":0},"version":9,"_order":0}`

var fullCardMapped = mapping.Card{
	ID: cardID, CID: 12, Version: 9,
	Title:    mapping.Versioned{Value: "A card", Version: 7},
	Summary:  mapping.Versioned{Value: "*hi*", Version: 4},
	Estimate: mapping.Versioned{Value: "5", Version: 1},
	Bucket:   bucketID, Iteration: sprintID, Review: "Approved",
	Counters:        &mapping.Counters{Done: 1, InProgress: 1, Total: 2, Status: "in-progress"},
	CountersVersion: 6,
}

func TestCardWhole(t *testing.T) {
	w := decode[wireCard](t, fullCard)
	got, err := w.card("", "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fullCardMapped, got); diff != "" {
		t.Error(diff)
	}
	got, _ = w.card("listing", "Inbox")
	if got.Bucket != "listing" || got.BucketName != "Inbox" {
		t.Errorf("bucket %q %q, want those of the listing", got.Bucket, got.BucketName)
	}
}

// Every member of a card in an unexpected shape leaves the rest readable.
func TestCardOddMembers(t *testing.T) {
	for _, odd := range []string{`null`, `""`, `"x"`, `7`, `1.5`, `true`, `[]`, `[{}]`, `{}`, `{"value":[]}`, `{"value":{"version":{}},"version":[]}`} {
		for _, member := range []string{
			"cid", "version", "title", "summary", "estimate", "state", "iteration",
			"iterationReview", "taskCounters", "isStandaloneTP", "tasks", "type", "owner", "nonWorkingDays",
		} {
			w := decode[wireCard](t, `{"_id":"c1","`+member+`":`+odd+`,"order":{"value":"0","version":0}}`)
			if c, err := w.card("b", ""); err != nil || c.ID != "c1" {
				t.Errorf("%s: %s: %v %v", member, odd, c.ID, err)
			}
		}
	}
}

func TestCardWithoutID(t *testing.T) {
	for _, raw := range []string{`{}`, `{"_id":null}`, `{"_id":{"$oid":""}}`, `{"id":"x"}`} {
		w := decode[wireCard](t, raw)
		if _, err := w.card("b", ""); err == nil {
			t.Errorf("%s: want an error", raw)
		}
	}
}

// Too deep texts, and texts that are not JSON, are refused, and never cause a crash.
func TestRefusedJSON(t *testing.T) {
	deep := func(open, shut string) string {
		b := make([]byte, 0, 4<<20)
		for range 1 << 19 {
			b = append(b, open...)
		}
		for range 1 << 19 {
			b = append(b, shut...)
		}
		return string(b)
	}
	for name, raw := range map[string]string{
		"arrays":    `{"_id":"c","unknown":` + deep("[", "]") + `}`,
		"objects":   `{"_id":"c","title":` + deep(`{"value":`, "}") + `}`,
		"cut":       fullCard[:len(fullCard)-1],
		"two":       fullCard + fullCard,
		"not JSON":  `<html></html>`,
		"empty":     ``,
		"control":   "{\"_id\":\"c\x01\"}",
		"bad word":  `{"_id":"c","x":nul}`,
		"bad comma": `{"_id":"c",}`,
	} {
		var w wireCard
		if err := json.Unmarshal([]byte(raw), &w); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if err := stdjson.Unmarshal([]byte(raw), &w); err == nil {
			t.Errorf("%s: accepted by encoding/json", name)
		}
		if _, ok := parseTree([]byte(raw)); ok {
			t.Errorf("%s: accepted as a tree", name)
		}
	}
}

func TestDays(t *testing.T) {
	for raw, want := range map[string]days{
		`[10,8.5,"7"]`: {10, 8.5, 7}, `[10,null,7,null,null]`: {10, 10, 7}, `[]`: nil, `null`: nil, `{}`: nil,
		`[null]`: nil, `[0,0]`: {0, 0},
	} {
		if diff := cmp.Diff(want, decode[days](t, raw)); diff != "" {
			t.Errorf("days %s: %s", raw, diff)
		}
	}
	for _, word := range []string{"x", "NaN", "Inf", ""} {
		if f := number(word).float(); f != 0 || math.IsNaN(f) {
			t.Errorf("%q as a number is %v", word, f)
		}
		if c := decode[counters](t, `{"done":"`+word+`"}`); c.Done != 0 {
			t.Errorf("%q counted is %v", word, c.Done)
		}
	}
}
