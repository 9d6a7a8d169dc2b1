package mapping

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// IssueEvent is one `edited` event of GitHub, or another event that no snapshot replaces. An
// edit carries the value before it, which shows that one of our writes ran over it. A nil
// field was not edited.
type IssueEvent struct {
	// Look, where set, is a reason to read both items, and the event is no edit: deleted,
	// transferred, missing from a listing. LookOpened says that the issue is new; see also
	// LookHandedOver.
	Look string `json:"look,omitempty"`
	// Item is the issue of the event; "": the link's own.
	Item Ref `json:"item,omitempty"`
	// Parent, where set, says that the issue became a sub-issue, or ceased to be one.
	Parent *Parent `json:"parent,omitempty"`
	// Moved, where set, says that an issue has become another one.
	Moved *Move `json:"moved,omitempty"`
	// Step, where set, is an event of our own account about a label. It may be a step of our
	// writes, or else is a snapshot like any other.
	Step *OwnEvent `json:"step,omitempty"`

	TitleFrom *string   `json:"title_from,omitempty"`
	BodyFrom  *string   `json:"body_from,omitempty"`
	Title     string    `json:"title"` // after the edit
	Body      string    `json:"body"`
	Sender    string    `json:"sender"`
	At        time.Time `json:"at"` // the issue's updated_at
	Delivery  string    `json:"delivery,omitempty"`
}

// OwnEvent is the issue as an event of our own account shows it.
type OwnEvent struct {
	Issue Issue     `json:"issue"`
	Came  time.Time `json:"came"` // when the event came, by our clock
	// Label is the label of the event, and On says that it was put onto the issue. It is "" where
	// an earlier version did not record it, or the label no longer exists.
	Label string `json:"label,omitempty"`
	On    bool   `json:"on,omitempty"`
}

// LookOpened is the Look of an `opened` event without a transfer, so that the issue was no other
// issue before.
const LookOpened = "opened"

// LookHandedOver is the Look of an issue that another link hands over. Nothing is read for it.
// It counts as a change even where the issue's snapshot is known, so that a link that is about
// to be removed stays.
const LookHandedOver = "handed over"

// DigestIssue identifies a snapshot of an issue by everything that is synchronised. The
// editor, the time, the repository's name, and values that only some answers have are left out.
// Digests of an older version differ, which costs one read of the issue.
//
// Every delivery computes it, so it hashes a plain list and no JSON.
func DigestIssue(i *Issue) string {
	var usual [4 << 10]byte // on the stack
	b := usual[:0]
	for _, n := range []int64{i.ID, int64(i.Number), int64(i.Milestone)} {
		b = binary.AppendVarint(b, n)
	}
	for _, yes := range []bool{i.PullRequest, i.Locked} {
		b = strconv.AppendBool(b, yes)
	}
	b = appendTexts(b, i.NodeID, i.Title, i.Body, i.State, i.StateReason, i.Author)
	for _, set := range [][]string{i.Labels, i.Assignees} {
		b = binary.AppendUvarint(b, uint64(len(set)))
		set = slices.Clone(set)
		slices.Sort(set)
		b = appendTexts(b, set...)
	}
	return digestOf(b)
}

// appendTexts adds texts, each behind its length.
func appendTexts(b []byte, texts ...string) []byte {
	for _, s := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

// DigestCard tells snapshots of one card apart.
func DigestCard(c *Card) string {
	d := *c
	d.Polled, d.Times = Interval{}, nil
	return digest(&d)
}

// DigestTask tells snapshots of one task apart.
func DigestTask(t *Task) string { return digest(t) }

// DigestText tells texts apart, where keeping the text itself is too much.
func DigestText(s string) string { return digest(s) }

func digest(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("mapping: digest: " + err.Error()) // only plain data of this package is digested
	}
	return digestOf(data)
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
