package mapping_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
)

func TestConflictExpires(t *testing.T) {
	now := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	old, young := now.Add(-time.Second), now.Add(time.Second)
	for name, tt := range map[string]struct {
		c    mapping.Conflict
		want bool
	}{
		"old":                          {mapping.Conflict{State: mapping.ConflictSettled, At: old}, true},
		"old, met again before":        {mapping.Conflict{State: mapping.ConflictSettled, At: old, Again: old, Settled: old}, true},
		"undone":                       {mapping.Conflict{State: mapping.ConflictUndone, At: old, Settled: old}, true},
		"erased":                       {mapping.Conflict{State: mapping.ConflictErased, At: old}, true},
		"young":                        {mapping.Conflict{State: mapping.ConflictSettled, At: young}, false},
		"at that time":                 {mapping.Conflict{State: mapping.ConflictSettled, At: now}, false},
		"old, met again since":         {mapping.Conflict{State: mapping.ConflictSettled, At: old, Again: young}, false},
		"old, answered since":          {mapping.Conflict{State: mapping.ConflictSettled, At: old, Settled: young}, false},
		"old, undone since":            {mapping.Conflict{State: mapping.ConflictUndone, At: old, Settled: young}, false},
		"unanswered":                   {mapping.Conflict{State: mapping.ConflictOpen, At: old}, false},
		"answered and not carried out": {mapping.Conflict{State: mapping.ConflictAnswered, At: old}, false},
	} {
		if got := tt.c.Expired(now); got != tt.want {
			t.Errorf("%s: Expired = %v, want %v", name, got, tt.want)
		}
	}
}

// secretWords is a text that people wrote, which an erasure has to reach everywhere.
const secretWords = "Frau Muster, Tel. 0123"

// fullLink is a link that carries the words wherever a link carries texts, digests of them, or
// names of people.
func fullLink(state mapping.LinkState) *mapping.Link {
	pair := func(kind mapping.PairKind, id int64) mapping.Pair {
		p := mapping.Pair{
			Kind: kind, State: state, Nonce: "nonce", Origin: mapping.GitHub,
			Issue: mapping.IssueID{ID: id, NodeID: "node", Repo: "acme/web", RepoID: 5, Number: int(id), Author: "muster", Digest: mapping.DigestText(secretWords)},
			Card:  mapping.CardID{ID: mapping.ObjectID("c" + string(rune('0'+id))), CID: id, Bucket: "b", BucketName: secretWords, StateID: "s"},
		}
		p.Base = map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: secretWords, Planning: secretWords}}
		p.Refused = map[mapping.Attribute]mapping.Refusal{mapping.Summary: {Value: mapping.DigestText(secretWords), Message: secretWords}}
		p.Former = []int64{id + 100}
		p.Pending = []mapping.Pending{{Attribute: mapping.Title, From: secretWords, To: secretWords}}
		p.Why = secretWords
		p.Synced = time.Date(2031, 1, 2, 0, 0, 0, 0, time.UTC)
		return p
	}
	l := &mapping.Link{ID: "l", Project: "p", Route: "web", Epoch: "e", Pair: pair(mapping.Root, 1)}
	sub, child := pair(mapping.SubIssue, 2), pair(mapping.Tracking, 3)
	l.SubLinks, l.Children = []*mapping.Pair{&sub}, []*mapping.Pair{&child}
	l.Family.Lines = []mapping.Lines{{Body: mapping.DigestText(secretWords)}}
	l.Shown = &mapping.Shown{Status: secretWords}
	return l
}

// TestEraseLeavesNoText: of an erased link the ids are kept, by which neither item enters again,
// and no text, digest or name of a person.
func TestEraseLeavesNoText(t *testing.T) {
	for _, state := range []mapping.LinkState{mapping.Entering, mapping.Creating, mapping.Linked, mapping.Left, mapping.Orphaned, mapping.Dormant, mapping.Erased} {
		l := fullLink(state)
		refs := l.Refs()
		if err := l.Erase(); err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		data, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, gone := range []string{secretWords, "Muster", "muster", mapping.DigestText(secretWords)} {
			if strings.Contains(string(data), gone) {
				t.Errorf("%s: %q is left: %s", state, gone, data)
			}
		}
		if !slices.Equal(l.Refs(), refs) || l.ID != "l" || l.Project != "p" || l.Route != "web" || l.Epoch != "e" || !l.Parted || l.State != mapping.Erased || l.Why != mapping.ErasedWhy {
			t.Errorf("%s: it is %+v", state, l)
		}
		if len(l.SubLinks) != 1 || l.SubLinks[0].Issue.ID != 2 || l.SubLinks[0].State != mapping.Erased || len(l.Children) != 1 || l.Children[0].Card.CID != 3 {
			t.Errorf("%s: its parts are %+v and %+v", state, l.SubLinks, l.Children)
		}
		if l.Issue != (mapping.IssueID{ID: 1, NodeID: "node", Repo: "acme/web", RepoID: 5, Number: 1}) || l.Card != (mapping.CardID{ID: "c1", CID: 1, Bucket: "b", StateID: "s"}) {
			t.Errorf("%s: its items are %+v and %+v", state, l.Issue, l.Card)
		}
		if l.Origin != mapping.GitHub || l.Synced.IsZero() || l.Nonce != "nonce" || !slices.Equal(l.Former, []int64{101}) {
			t.Errorf("%s: of the pair is kept %+v", state, l.Pair)
		}
		again := *l
		if err := again.Erase(); err != nil {
			t.Errorf("%s: erased once more: %v", state, err)
		}
	}
}

// TestEraseOfAnUnknownState: a link with a pair in a state of a later version is refused as a whole.
// So no part of it is lost.
func TestEraseOfAnUnknownState(t *testing.T) {
	for name, spoil := range map[string]func(*mapping.Link){
		"of the link": func(l *mapping.Link) { l.State = "frozen" },
		"of a part":   func(l *mapping.Link) { l.SubLinks[0].State = "frozen" },
	} {
		l, want := fullLink(mapping.Linked), fullLink(mapping.Linked)
		spoil(l)
		spoil(want)
		if err := l.Erase(); err == nil {
			t.Errorf("%s: it was erased", name)
		}
		if d := cmp.Diff(want, l); d != "" {
			t.Errorf("%s: the link was changed: %s", name, d)
		}
	}
}

// TestEraseKeepsEachPart: of several sub-issues and tasks each is kept by its ids, in their order.
func TestEraseKeepsEachPart(t *testing.T) {
	l := fullLink(mapping.Linked)
	for id := range int64(3) {
		sub, child := *l.SubLinks[0], *l.Children[0]
		sub.Issue.ID, child.Card.CID = 20+id, 30+id
		l.SubLinks, l.Children = append(l.SubLinks, &sub), append(l.Children, &child)
	}
	if err := l.Erase(); err != nil {
		t.Fatal(err)
	}
	var subs, children []int64
	for _, p := range l.SubLinks {
		subs = append(subs, p.Issue.ID)
	}
	for _, p := range l.Children {
		children = append(children, p.Card.CID)
	}
	if !slices.Equal(subs, []int64{2, 20, 21, 22}) || !slices.Equal(children, []int64{3, 30, 31, 32}) {
		t.Errorf("kept are the sub-issues %v and the tasks %v", subs, children)
	}
}

// TestEraseConflict: its subject, its time and its winner stay.
func TestEraseConflict(t *testing.T) {
	at := time.Date(2031, 1, 2, 0, 0, 0, 0, time.UTC)
	c := mapping.Conflict{Attribute: mapping.Title, GitHub: secretWords, Planning: secretWords, Base: &mapping.Base{GitHub: secretWords}, Winner: mapping.GitHub, At: at, State: mapping.ConflictSettled}
	c.Erase()
	if c.GitHub+c.Planning != "" || c.Base != nil || c.State != mapping.ConflictErased {
		t.Errorf("left is %+v", c)
	}
	if c.Attribute != mapping.Title || c.Winner != mapping.GitHub || !c.At.Equal(at) {
		t.Errorf("kept is %+v", c)
	}
}

// TestErasedPairIsFoundAgain: an issue that is transferred later is known by when it was born.
func TestErasedPairIsFoundAgain(t *testing.T) {
	l, born := fullLink(mapping.Linked), time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	l.Issue.Born = born
	if err := l.Erase(); err != nil || !l.Issue.Born.Equal(born) {
		t.Errorf("erased: %v, %+v", err, l.Issue)
	}
}
