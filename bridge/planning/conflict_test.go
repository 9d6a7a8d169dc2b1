package planning

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
)

// conflictStatuses are the statuses a refused version may come with.
var conflictStatuses = []int{200, 202, 400, 403, 409, 412, 422, 428, 500, 503}

// conflictShapes are the ways in which a refusal may carry the current values;
// %s is the attribute's value and version.
var conflictShapes = map[string]string{
	"top level":      `{"_id":{"$oid":"` + cardID + `"},"version":9,"title":%s}`,
	"bare":           `{"title":%s}`,
	"item":           `{"error":"conflict","item":{"_id":"` + cardID + `","version":9,"title":%s}}`,
	"card":           `{"card":{"title":%s}}`,
	"current":        `{"message":"version mismatch","current":{"title":%s}}`,
	"under the name": `{"title":{"current":%s,"sent":{"value":"mine","version":3}}}`,
	"errors":         `{"errors":{"title":%s}}`,
	"errors array":   `{"errors":[{"title":%s}]}`,
	"errors named":   `{"errors":[{"field":"title","current":{}},{"attribute":"title",%s]}`,
	"errors with it": `{"errors":[{"attribute":"summary","message":"x"},{"attribute":"title","message":"version","current":%s}]}`,
	"data":           `{"status":"fail","data":{"attributes":{"title":%s}}}`,
	"array":          `[{"_id":"` + cardID + `","title":%s}]`,
	"beside tasks":   `{"item":{"tasks":[{"_id":"t","title":{"value":"task's","version":99}}],"title":%s}}`,
	"beside others":  `{"items":[{"_id":"other","title":{"value":"other's","version":99}},{"_id":"` + cardID + `","title":%s}]}`,
	"beside ours":    `{"request":{"title":{"value":"mine","version":3}},"result":{"a":{"b":{"title":%s}}}}`,
	"capital":        `{"Title":%s}`,
	"has a value":    `{"_id":{"$oid":"` + cardID + `"},"version":9,"title":%s,"value":{"value":3,"version":1}}`,
	"value, wrapped": `{"error":"stale","current":{"title":%s,"value":{"value":3,"version":1}}}`,
}

func shaped(shape, value string) string {
	if strings.Contains(shape, `"attribute":"title",%s`) {
		return fmt.Sprintf(shape, strings.TrimPrefix(value, "{"))
	}
	return fmt.Sprintf(shape, value)
}

// TestConflictAnywhere: a refusal of any status and shape that carries another version is a
// conflict with the current values.
func TestConflictAnywhere(t *testing.T) {
	for name, shape := range conflictShapes {
		for _, status := range conflictStatuses {
			for _, value := range []string{`{"value":"theirs","version":7}`, `{"version":"7","value":"theirs"}`, `{"value":"theirs","version":7.0,"who":null}`} {
				c, rec := serve(t, answering(status, shaped(shape, value)))
				_, err := c.UpdateCard(ctx(), cardID, "alice", mapping.LinkImages, title("mine", 3))
				var conflict *mapping.VersionConflict
				if !errors.As(err, &conflict) {
					t.Errorf("%s, %d: %v", name, status, err)
					continue
				}
				if diff := cmp.Diff(title("theirs", 7), conflict.Current); diff != "" {
					t.Errorf("%s, %d: %s", name, status, diff)
				}
				if want := "planning: update card " + cardID + ": version conflict"; err.Error() != want {
					t.Errorf("error %q, want %q", err, want)
				}
				if len(rec.requests()) != 1 || c.Down() {
					t.Errorf("%s, %d: a write was repeated, or a conflict is an outage", name, status)
				}
			}
		}
	}
}

// TestJudgedByValue holds the rows of the table above judge, for a title sent
// as "mine" at version 3.
func TestJudgedByValue(t *testing.T) {
	const success, conflict, uncertain, refused = "success", "conflict", "uncertain", "refused"
	for _, tt := range []struct {
		name, body string
		statuses   []int
		want       string
	}{
		{"nothing, 409", ``, []int{409, 412}, conflict},
		{"nothing, other", ``, []int{400, 422}, refused},
		{"nothing, 5xx", ``, []int{500, 503}, uncertain},
		{"nothing, 2xx", ``, []int{200, 204, 202}, success},
		{"null, 2xx", `null`, []int{200}, success},
		{"unrelated, 2xx", `{"ok":true}`, []int{200}, success},
		{"words of a version", `version conflict`, []int{200, 400, 422, 500}, conflict},
		{"words in JSON", `{"error":"Attribute version does not match"}`, []int{200, 400, 422, 500}, conflict},
		{"words of a lock", `{"message":"optimistic locking failure","errors":["x"]}`, []int{200, 400, 500}, conflict},
		{"other words", `{"error":"title too long"}`, []int{200, 400, 422}, refused},
		{"errors, 2xx", `{"errors":[{"title":"too long"}]}`, []int{200, 201}, refused},
		{"errors true", `{"error":true,"message":"no"}`, []int{200}, refused},
		{"empty errors", `{"error":null,"errors":[]}`, []int{200}, success},
		{"error empty or false", `{"error":"","errors":false}`, []int{200}, success},
		{"garbage, 2xx", `<html>ok</html>`, []int{200}, uncertain},
		{"cut JSON, 2xx", `{"title":{"value":"mine"`, []int{200}, uncertain},
		{"as sent, next version", `{"title":{"value":"mine","version":4}}`, []int{200, 201}, success},
		{"as sent, same version", `{"title":{"value":"mine","version":3}}`, []int{200}, success},
		{"as sent, far version", `{"title":{"value":"mine ","version":9}}`, []int{200}, success},
		{"as sent, error beside", `{"errors":["late"],"title":{"value":"mine","version":4}}`, []int{200}, success},
		{"other value, next version", `{"title":{"value":"Mine!","version":4}}`, []int{200}, success},
		{"other value, same version", `{"title":{"value":"Mine!","version":3}}`, []int{200}, success},
		{"other value, far version", `{"title":{"value":"theirs","version":5}}`, []int{200}, conflict},
		{"other value, earlier version", `{"title":{"value":"theirs","version":2}}`, []int{200}, conflict},
		{"effect and an error", `{"title":{"value":"mine","version":4}}`, []int{400, 422, 500}, uncertain},
		{"effect and 409", `{"title":{"value":"mine","version":4}}`, []int{409}, conflict},
		{"echo of what was sent", `{"error":"bad","title":{"value":"mine","version":3}}`, []int{400, 422}, refused},
		{"echo, 5xx", `{"title":{"value":"mine","version":3}}`, []int{500}, uncertain},
		{"echo, 409", `{"title":{"value":"mine","version":3}}`, []int{409}, conflict},
		{"no version", `{"title":{"value":"theirs"}}`, []int{200}, success},
		{"version of the item only", `{"version":99,"_id":"` + cardID + `"}`, []int{200}, success},
		{"another attribute moved", `{"summary":{"value":"x","version":99}}`, []int{200}, success},
		{"another attribute moved, 400", `{"summary":{"value":"x","version":99}}`, []int{400}, refused},
		{"state of a card", `{"state":{"value":{"$oid":"b"},"version":99}}`, []int{200}, success},
	} {
		for _, status := range tt.statuses {
			c, _ := serve(t, answering(status, tt.body))
			if status == 204 && tt.body != "" {
				t.Fatal("204 has no body")
			}
			_, err := c.UpdateCard(ctx(), cardID, "alice", mapping.LinkImages, title("mine", 3))
			var vc *mapping.VersionConflict
			got := success
			switch {
			case errors.As(err, &vc):
				got = conflict
			case errors.Is(err, mapping.ErrUncertain):
				got = uncertain
			case errors.Is(err, mapping.ErrRejected):
				got = refused
			case err != nil:
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%s, %d: %s (%v), want %s", tt.name, status, got, err, tt.want)
			}
		}
	}
}

func TestUpdatedValues(t *testing.T) {
	sent := set{mapping.Title: {Value: "T", Version: 1}, mapping.Summary: {Value: "* a\n* b", Version: 2}, mapping.Estimate: {Value: "3", Version: 3}}
	c, _ := serve(t, answering(200, `{"_id":{"$oid":"`+cardID+`"},"version":12,"title":{"value":"T","version":2},
		"summary":{"value":{"markdown":"- a\n- b","html":"x"},"version":7},"estimate":{"value":"3.0","version":4},
		"iteration":{"value":null,"version":1},"project":{"value":{"$oid":"p"},"version":0},"state":{"value":{"$oid":"b"},"version":0}}`))
	got, err := c.UpdateCard(ctx(), cardID, "alice", mapping.LinkImages, sent)
	if err != nil {
		t.Fatal(err)
	}
	want := Updated{Version: 12, Values: set{
		mapping.Title: {Value: "T", Version: 2}, mapping.Summary: {Value: "- a\n- b", Version: 7}, mapping.Estimate: {Value: "3", Version: 4},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A state was seen to be answered at the version that was sent while the
// others rose (facts of real data).
func TestTaskStateVersionSticks(t *testing.T) {
	c, _ := serve(t, answering(200, `[{"_id":"`+taskID+`","version":"5","project":{"value":"p","version":0},
		"state":{"value":"done","version":9},"title":{"value":"x","version":2},"estimate":{"value":null,"version":1}}]`))
	got, err := c.UpdateTask(ctx(), taskID, "alice", mapping.LinkImages, set{mapping.State: {Value: "done", Version: 9}, mapping.Title: {Value: "x", Version: 1}})
	if err != nil {
		t.Fatal(err)
	}
	want := Updated{Version: 5, Values: set{
		mapping.State: {Value: "done", Version: 9}, mapping.Title: {Value: "x", Version: 2}, mapping.Estimate: {Version: 1},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// One moved attribute makes the whole write a conflict, with all that is known.
func TestConflictOfOneOfTwo(t *testing.T) {
	for _, status := range []int{200, 400, 409, 500} {
		c, _ := serve(t, answering(status, `{"current":{"title":{"value":"theirs","version":8},"summary":{"value":{"markdown":"old"},"version":2}}}`))
		_, err := c.UpdateCard(ctx(), cardID, "alice", mapping.LinkImages, set{mapping.Title: {Value: "T", Version: 1}, mapping.Summary: {Value: "new", Version: 2}})
		var conflict *mapping.VersionConflict
		if !errors.As(err, &conflict) {
			t.Errorf("%d: %v", status, err)
			continue
		}
		want := set{mapping.Title: {Value: "theirs", Version: 8}, mapping.Summary: {Value: "old", Version: 2}}
		if diff := cmp.Diff(want, conflict.Current); diff != "" {
			t.Errorf("%d: %s", status, diff)
		}
	}
}

func TestForcedWriteHasNoConflict(t *testing.T) {
	body := `{"title":{"value":"other","version":50}}`
	forced := title("mine", mapping.ForceVersion)
	c, _ := serve(t, answering(200, body))
	got, err := c.UpdateCard(ctx(), cardID, "alice", mapping.LinkImages, forced)
	if err != nil || got.Values[mapping.Title].Version != 50 {
		t.Errorf("%v %v", got, err)
	}
	c, _ = serve(t, answering(400, body))
	_, err = c.UpdateCard(ctx(), cardID, "alice", mapping.LinkImages, forced)
	wantFault(t, err, mapping.ErrRejected)
}

func TestSpellingsOfTheSame(t *testing.T) {
	for _, tt := range []struct {
		attr       mapping.Attribute
		sent, back string
		want       bool
	}{
		{mapping.Title, "a", "a ", true},
		{mapping.Title, "a", "b", false},
		{mapping.Estimate, "0.50", "0.5", true},
		{mapping.Estimate, "1", "2", false},
		{mapping.Estimate, "1", "", false},
		{mapping.Summary, "* a", "- a\n", true},
		{mapping.Summary, "a", "b", false},
		{mapping.State, "done", "done", true},
		{mapping.State, "done", "todo", false},
	} {
		if got := same(tt.attr, tt.sent, tt.back); got != tt.want {
			t.Errorf("same(%s, %q, %q) = %v", tt.attr, tt.sent, tt.back, got)
		}
	}
}

// TestAConflictKeepsItsMessage: a refused value may come with the status of a version conflict. The
// message says why.
func TestAConflictKeepsItsMessage(t *testing.T) {
	for _, status := range []int{409, 412} {
		c, _ := serve(t, answering(status, `{"error":"title too long"}`))
		_, err := c.UpdateCard(ctx(), cardID, "alice", mapping.LinkImages, title("mine", 3))
		var conflict *mapping.VersionConflict
		if !errors.As(err, &conflict) || conflict.Message != "title too long" {
			t.Errorf("%d: %v, %+v", status, err, conflict)
		}
	}
}
