package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// TestAnAnsweredTextHasNoTime: a poll dates the text that it saw. The text that planning answered to a
// write is another one, and the other attributes keep their times.
func TestAnAnsweredTextHasNoTime(t *testing.T) {
	polled := &mapping.Card{ID: "c", Summary: versioned("old", 4), Polled: mapping.Interval{From: noon, To: noon.Add(time.Minute)}}
	w := planningWriter{&state{itemViews: itemViews{card: polled}}}
	w.rememberText(Updated{Values: mapping.View{mapping.Summary: versioned("new", 5)}})
	if w.card.Summary != versioned("new", 5) || polled.Summary != versioned("old", 4) {
		t.Errorf("the card says %+v, and that of the poll %+v", w.card.Summary, polled.Summary)
	}
	if got := w.card.Edited(mapping.Summary); got != (mapping.Interval{}) {
		t.Errorf("the text was made in %+v, which nothing tells", got)
	}
	if got := w.card.Edited(mapping.Title); got != polled.Polled {
		t.Errorf("the title was made in %+v, want the poll's time", got)
	}
}
