package mapping

import (
	"testing"
	"time"
)

// TestQuestionOfAPartedPair has a row for each state of a ledger entry. A question is closed when
// its pair is parted and asked again when it is linked. Everything else stays unchanged.
func TestQuestionOfAPartedPair(t *testing.T) {
	for state, question := range map[string]bool{
		ConflictOpen: true, ConflictAnswered: true, ConflictSettled: false, ConflictUndone: false, ConflictErased: false,
	} {
		t.Run(state, func(t *testing.T) {
			c := Conflict{ID: "c", State: state, Winner: GitHub, Rule: "policy ask", GitHub: "ours", Planning: "theirs", At: noon}
			was := c
			if parted := c.Part(noon.Add(time.Hour)); parted != question {
				t.Errorf("parting it closes a question: %v", parted)
			}
			if c.GitHub != "ours" || c.Planning != "theirs" {
				t.Errorf("a value is lost: %+v", c)
			}
			if !question {
				if c.State != was.State || c.Winner != was.Winner || c.Rule != was.Rule || c.Reopen() {
					t.Errorf("it became %+v", c)
				}
				return
			}
			if c.State != ConflictSettled || c.Winner != "" || c.Rule != PartedRule || !c.Settled.Equal(noon.Add(time.Hour)) {
				t.Errorf("the closed question is %+v", c)
			}
			if c.Part(noon) {
				t.Error("it was closed twice")
			}
			if !c.Reopen() || c.State != ConflictOpen || c.Rule != "the pair was linked again" || !c.Settled.IsZero() || c.Winner != "" {
				t.Errorf("the question that is asked again is %+v", c)
			}
			if c.Reopen() {
				t.Error("it was asked again twice")
			}
		})
	}
}

// TestErasedQuestionIsNotAskedAgain: nobody could answer it without the values.
func TestErasedQuestionIsNotAskedAgain(t *testing.T) {
	c := Conflict{ID: "c", State: ConflictOpen, GitHub: "ours", Planning: "theirs", At: noon}
	if !c.Part(noon) {
		t.Fatal("it was no question")
	}
	c.Erase()
	if c.Reopen() || c.State != ConflictErased {
		t.Errorf("it was asked again: %+v", c)
	}
}

// TestConflictOfTheSameValues: an entry is found again by what met, whatever link or spelling
// it came with.
func TestConflictOfTheSameValues(t *testing.T) {
	id := ConflictID("card", Summary, "ours", "theirs")
	for name, tt := range map[string]struct {
		item             ObjectID
		a                Attribute
		github, planning string
		same             bool
	}{
		"the same":               {"card", Summary, "ours", "theirs", true},
		"white space at the end": {"card", Summary, "ours \r\n", "theirs\n\n", true},
		"another item":           {"other", Summary, "ours", "theirs", false},
		"another attribute":      {"card", Title, "ours", "theirs", false},
		"another GitHub value":   {"card", Summary, "our", "theirs", false},
		"another planning value": {"card", Summary, "ours", "their", false},
		"the sides exchanged":    {"card", Summary, "theirs", "ours", false},
		"another border":         {"card", Summary, "ourst", "heirs", false},
	} {
		if got := ConflictID(tt.item, tt.a, tt.github, tt.planning) == id; got != tt.same {
			t.Errorf("%s: the same conflict %v", name, got)
		}
	}
}
