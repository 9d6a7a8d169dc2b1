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

// IssueEvent is one `edited` event of GitHub: it carries what stood there before,
// which is how an edit that one of our writes ran over is found. A nil field
// was not edited.
type IssueEvent struct {
	// Look, where set, says that this is no edit but a reason to read both
	// items themselves: deleted, transferred, missing from a listing; or, as
	// LookOpened, that the issue is new; or LookHandedOver.
	Look string `json:"look,omitempty"`
	// Item is the issue that it is about; "" for the link's own.
	Item Ref `json:"item,omitempty"`
	// Parent, where set, says that the issue became a sub-issue, or is one no
	// more.
	Parent *Parent `json:"parent,omitempty"`
	// Moved, where set, says that an issue has become another one.
	Moved *Move `json:"moved,omitempty"`
	// Step, where set, is what an event of our own account about a label shows:
	// perhaps a step of what we wrote, else a snapshot as any other.
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
	// Label is the label that the event tells of, On that it was put onto the issue; "": an
	// earlier version did not note it, or the label is no more.
	Label string `json:"label,omitempty"`
	On    bool   `json:"on,omitempty"`
}

// LookOpened is the Look of an `opened` event that tells of no transfer: the
// issue was nothing else before.
const LookOpened = "opened"

// LookHandedOver is the Look of what a link is told that another one hands its issue over
// to. Nothing is read for it. It is a change, even where the issue was seen as it is: a link
// that is about to go stays.
const LookHandedOver = "handed over"

// DigestIssue tells snapshots of one issue apart by everything that is
// synchronised. Who edited and when is not part of it, nor a repository's name,
// which changes nothing of its issues, nor what only some answers show or say by id. An older
// version's digests differ, which costs no more than a look at the issue.
//
// It is taken of every delivery, so that it is of a plain list and not of JSON.
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
		panic("mapping: digest: " + err.Error()) // only plain data of this package comes here
	}
	return digestOf(data)
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
