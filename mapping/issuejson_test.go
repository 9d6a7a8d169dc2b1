package mapping

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestIssueJSON: AppendJSON writes what encoding/json writes.
func TestIssueJSON(t *testing.T) {
	text := rapid.OneOf(
		rapid.StringOf(rapid.RuneFrom([]rune("az<>&\"\\/\r\n\t\b\f\x00\x1f\x7fé\u2028\u2029\ufffd😀"))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }), // valid or not
	)
	stamp := rapid.Map(rapid.Int64Range(-62135596800, 253402300799), func(n int64) time.Time { return time.Unix(n, n&1).UTC() })
	rapid.Check(t, func(t *rapid.T) {
		i := Issue{
			ID: rapid.Int64().Draw(t, "id"), NodeID: text.Draw(t, "node"), Repo: text.Draw(t, "repo"), RepoID: rapid.Int64Range(0, 2).Draw(t, "repo id"),
			Number: rapid.Int().Draw(t, "number"), Title: text.Draw(t, "title"), Body: text.Draw(t, "body"), State: text.Draw(t, "state"),
			StateReason: text.Draw(t, "reason"), Labels: rapid.SliceOf(text).Draw(t, "labels"), Assignees: rapid.SliceOf(text).Draw(t, "assignees"),
			Milestone: rapid.IntRange(0, 2).Draw(t, "milestone"), Author: text.Draw(t, "author"), Association: text.Draw(t, "association"),
			PullRequest: rapid.Bool().Draw(t, "pull request"), Locked: rapid.Bool().Draw(t, "locked"),
			CreatedAt: stamp.Draw(t, "created"), UpdatedAt: stamp.Draw(t, "updated"), Editor: text.Draw(t, "editor"),
			Delivery: text.Draw(t, "delivery"), Parent: text.Draw(t, "parent"), Childless: rapid.Bool().Draw(t, "childless"),
		}
		want, err := json.Marshal(&i)
		if err != nil {
			t.Fatal(err)
		}
		if got := i.AppendJSON(nil); string(got) != string(want) {
			t.Fatalf("got %s\nwant %s", got, want)
		}
	})
}
