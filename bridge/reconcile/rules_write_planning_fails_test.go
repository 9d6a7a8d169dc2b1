package reconcile

import (
	"testing"

	"planbridge/mapping"
)

// refusedFor says what is wrong where no value of an attribute is blocked as refused.
func refusedFor(a mapping.Attribute, side mapping.Side, value string) func(work) string {
	return is("the value is blocked as refused", func(w work) bool {
		r, ok := w.pair.Refused[a]
		return ok && r.Side == side && r.Value == mapping.DigestText(value)
	})
}

func notRefused(w work) string {
	return is("no value is blocked", func(w work) bool { return len(w.pair.Refused) == 0 })(w)
}

func TestPlanningRefusesAWrite(t *testing.T) {
	title := planned(put(mapping.Title, "a", "b"))
	moved := func(current map[mapping.Attribute]mapping.Versioned) map[string]any {
		return map[string]any{"Update": &mapping.VersionConflict{Current: current}, "ReadCard": errAway}
	}
	words := &mapping.Rejection{Field: "title", Message: "too long"}
	card := func(version int64) mapping.Card {
		return mapping.Card{ID: "c", Version: version, Title: versioned("c", version), Summary: versioned("", 1), Estimate: versioned("", 1)}
	}
	state := planned(put(mapping.State, mapping.StateTodo, mapping.StateDone))
	marker := mapping.Decision{Attribute: mapping.Summary, Action: mapping.RestoreMarker, Planning: &mapping.Write{From: "a", To: "a", Version: 1}}
	remark := planned(marker)
	checkRule(t, writePlanning, []ruleCase{
		{
			name: "somebody was faster", known: title, answers: moved(map[mapping.Attribute]mapping.Versioned{mapping.Title: versioned("c", 2)}), asked: savedAnd(putTitle),
			want: anew, check: all(holds(mapping.Title, "c", 2), openWrites(0), agreedOn(mapping.Title, "", "", 1), notRefused),
		},
		{
			name: "somebody was faster, which a success says, and a marker went along", known: planned(put(mapping.Title, "a", "b"), marker), want: anew, asked: savedAnd("Update"),
			answers: map[string]any{"Update": shows(3, map[mapping.Attribute]mapping.Versioned{mapping.Title: versioned("c", 2), mapping.Summary: versioned("a", 1)})},
			check: all(holds(mapping.Title, "c", 2), openWrites(0), is("the marker is to be restored still", func(w work) bool {
				return w.pair.MarkerRestored == "" && len(w.history) == 0
			})),
		},
		{
			name: "a marker alone that planning leaves out is not written again", known: func(w work) { remark(w); w.unmarked = "d" }, asked: savedAnd("Update"),
			answers: map[string]any{"Update": shows(2, map[mapping.Attribute]mapping.Versioned{mapping.Summary: versioned("a", 1)})},
			check:   all(openWrites(0), is("it was restored once", func(w work) bool { return len(w.history) == 1 })),
		},
		{name: "somebody was, and the answer lacks the value", known: title, answers: moved(nil), asked: savedAnd(putTitle, "ReadCard"), err: "unavailable", check: openWrites(0)},
		{
			name: "somebody was, and the answer explains nothing", known: title, answers: moved(map[mapping.Attribute]mapping.Versioned{mapping.Title: versioned("a", 1)}),
			asked: savedAnd(putTitle, "ReadCard"), err: "unavailable",
		},
		{
			name: "somebody changed the state before", known: state, asked: savedAnd("Update", "ReadTask"),
			answers: map[string]any{"Update": &mapping.VersionConflict{}, "ReadTask": mapping.Task{ID: "t", State: versioned(mapping.StateInProgress, 2)}},
			want:    anew, check: all(holds(mapping.State, mapping.StateInProgress, 2), openWrites(0)),
		},
		{
			name: "a task's other values are not the card's", known: state, asked: savedAnd("Update"), want: anew,
			answers: moved(map[mapping.Attribute]mapping.Versioned{mapping.State: versioned(mapping.StateInProgress, 2), mapping.Title: versioned("GitHub acme/web#12", 2)}),
			check:   all(holds(mapping.State, mapping.StateInProgress, 2), is("the card's title is not the task's", func(w work) bool { _, has := w.p[mapping.Title]; return !has })),
		},
		{
			name: "the value is refused", known: title, answers: map[string]any{"Update": words}, asked: savedAnd(putTitle),
			check: all(refusedFor(mapping.Title, mapping.Planning, "b"), tells("refused"), openWrites(0), agreedOn(mapping.Title, "", "", 1)),
		},
		{
			name: "it is refused with the status of a version conflict, and the card is as it was", known: func(w work) { title(w); w.pair.Card.Version = 1 },
			answers: map[string]any{"Update": &mapping.VersionConflict{Message: "too long"}, "ReadCard": card(1)}, asked: savedAnd(putTitle, "ReadCard"),
			check: all(refusedFor(mapping.Title, mapping.Planning, "b"), tells("refused"), openWrites(0), agreedOn(mapping.Title, "", "", 1), is("planning's words are kept", func(w work) bool {
				return w.pair.Refused[mapping.Title].Message == "too long"
			})),
		},
		{
			name: "it is refused with the status of a version conflict, and the card moved", known: title, answers: map[string]any{"Update": &mapping.VersionConflict{}, "ReadCard": card(2)},
			asked: savedAnd(putTitle, "ReadCard"), want: anew, check: all(notRefused, openWrites(0), holds(mapping.Title, "c", 2)),
		},
		{
			name: "a state is refused with the status of a version conflict, and the task is as it was", known: state, asked: savedAnd("Update", "ReadTask"),
			answers: map[string]any{"Update": &mapping.VersionConflict{}, "ReadTask": mapping.Task{ID: "t", State: versioned(mapping.StateTodo, 1)}},
			check:   all(refusedFor(mapping.State, mapping.Planning, mapping.StateDone), openWrites(0)),
		},
		{
			name: "one of two is refused with the status of a version conflict: each goes alone", known: planned(put(mapping.Title, "a", "b"), put(mapping.Estimate, "", "5")),
			answers: map[string]any{"Update": turns{&mapping.VersionConflict{}, titled("b", 2), &mapping.VersionConflict{}}, "ReadCard": turns{card(1), mapping.Card{ID: "c", Version: 2, Title: versioned("b", 2), Estimate: versioned("", 1)}}},
			asked:   savedAnd("Update", "ReadCard", "Save", "BeginWrite", putTitle, "Save", "BeginWrite", `Update card:c estimate="5"@1 by robot`, "ReadCard"),
			check:   all(agreedOn(mapping.Title, "b", "b", 2), refusedFor(mapping.Estimate, mapping.Planning, "5"), openWrites(0)),
		},
		{
			name: "it is refused without a word, and the card is as it was", known: func(w work) { title(w); w.pair.Card.Version = 1 },
			answers: map[string]any{"Update": &mapping.Rejection{}, "ReadCard": card(1)}, asked: savedAnd(putTitle, "ReadCard"), check: all(refusedFor(mapping.Title, mapping.Planning, "b"), openWrites(0)),
		},
		{
			name: "it is refused without a word, and the card moved", known: title, answers: map[string]any{"Update": &mapping.Rejection{}, "ReadCard": card(2)},
			asked: savedAnd(putTitle, "ReadCard"), want: anew, check: all(notRefused, openWrites(0), holds(mapping.Title, "c", 2)),
		},
		{
			name: "one for whatever version is refused without a word", known: planned(forced(put(mapping.Title, "a", "b"))),
			answers: map[string]any{"Update": &mapping.Rejection{}, "ReadCard": card(2)}, asked: savedAnd(`Update card:c title="b"@-1 by robot`, "ReadCard"), check: refusedFor(mapping.Title, mapping.Planning, "b"),
		},
		{
			name: "one of two is refused: each goes alone", known: planned(put(mapping.Title, "a", "b"), put(mapping.Estimate, "3", "5")),
			answers: map[string]any{"Update": turns{words, titled("b", 2), &mapping.Rejection{Field: "estimate", Message: "odd"}}},
			asked:   savedAnd("Update", "Save", "BeginWrite", putTitle, "Save", "BeginWrite", `Update card:c estimate="5"@1 by robot`),
			check:   all(agreedOn(mapping.Title, "b", "b", 2), refusedFor(mapping.Estimate, mapping.Planning, "5"), tells("write", "refused"), openWrites(0)),
		},
		{
			name: "one of two is refused, and alone the first meets a newer card", known: planned(put(mapping.Title, "a", "b"), put(mapping.Estimate, "3", "5")),
			answers: map[string]any{"Update": turns{words, &mapping.VersionConflict{Current: map[mapping.Attribute]mapping.Versioned{mapping.Title: versioned("c", 2)}}}},
			asked:   savedAnd("Update", "Save", "BeginWrite", putTitle), want: anew, check: all(notRefused, openWrites(0)),
		},
		{
			name: "a text with its marker is refused: it goes on without", known: func(w work) { remark(w); w.unmarked = "a text without" }, answers: map[string]any{"Update": words},
			asked: savedAnd("Update"), check: all(notRefused, tells("refused"), is("it is not tried again", func(w work) bool { return w.pair.MarkerRestored == "a text without" && w.unmarked == "" })),
		},
		{
			name: "the tracking task is gone", known: state, answers: map[string]any{"Update": mapping.ErrNotFound, "ReadTask": errAway}, asked: savedAnd("Update", "ReadTask"), err: "unavailable",
			check: openWrites(0),
		},
		{
			name: "the card is gone: that is not believed at once", known: title, answers: map[string]any{"Update": mapping.ErrNotFound, "Missed": Absence{First: noon}},
			asked: savedAnd("Update", "CheckProject", "Missed"), err: "to be read once more",
			check: all(openWrites(0), is("the answer is counted", func(w work) bool { return w.pair.Gone[mapping.Planning] == 1 })),
		},
		{name: "planning is away, and took nothing", known: title, answers: map[string]any{"Update": errAway}, asked: savedAnd("Update"), err: "unavailable", check: openWrites(0)},
		{
			name: "its answer is lost", known: title, answers: map[string]any{"Update": mapping.ErrUncertain}, asked: savedAnd("Update"), err: "outcome unknown",
			check: all(openWrites(1), agreedOn(mapping.Title, "", "", 1)),
		},
	})
}

func TestPlanningAnswersWithSomethingElse(t *testing.T) {
	title := planned(put(mapping.Title, "a", "b"))
	before := func(version int64) func(work) {
		return func(w work) {
			title(w)
			w.held[heldKey{mapping.CardRef("c"), mapping.Title}] = heldValue{"b", versioned("B!", 2)}
			w.pair.Base[mapping.Title] = mapping.Base{GitHub: "a", Planning: "a", Version: version}
		}
	}
	based := func(a, planning string, version int64) func(*mapping.Link) {
		return func(l *mapping.Link) {
			l.Base[mapping.Title] = mapping.Base{GitHub: a, Planning: planning, Version: version}
		}
	}
	checkRule(t, writePlanning, []ruleCase{
		{
			name: "another value, which may be somebody's", known: title, answers: map[string]any{"Update": titled("B!", 2)}, asked: savedAnd(putTitle), want: anew, counts: []string{},
			check: all(agreedOn(mapping.Title, "", "", 1), holds(mapping.Title, "B!", 2), openWrites(0), tells()),
		},
		{
			name: "the same one again, of a newer version: so planning spells it", known: before(1), answers: map[string]any{"Update": titled("B!", 3)}, asked: savedAnd(putTitle),
			check: all(agreedOn(mapping.Title, "b", "B!", 3), tells("write")),
		},
		{name: "the same one again, of the version that was sent", known: before(1), answers: map[string]any{"Update": titled("B!", 1)}, asked: savedAnd(putTitle), want: anew},
		{name: "yet another one", known: before(1), answers: map[string]any{"Update": titled("C!", 3)}, asked: savedAnd(putTitle), want: anew, check: holds(mapping.Title, "C!", 3)},
		{
			name: "another value, to a write for whatever version", known: planned(forced(put(mapping.Title, "a", "b"))), answers: map[string]any{"Update": titled("B!", 2)}, asked: savedAnd("Update"),
			check: all(agreedOn(mapping.Title, "b", "b", 1), holds(mapping.Title, "B!", 2), tells("write")),
		},
		{
			name: "the value from before, two versions on: somebody undid it", known: title, link: based("a", "a", 1), answers: map[string]any{"Update": titled("a", 3)}, asked: savedAnd(putTitle), want: anew,
			check: all(notAgreedOn(mapping.Title), tells("recover")),
		},
		{
			name: "the value from before, of the next version", known: title, link: based("a", "a", 1), answers: map[string]any{"Update": titled("a", 2)}, asked: savedAnd(putTitle), want: anew,
			check: all(agreedOn(mapping.Title, "a", "a", 1), tells()),
		},
		{
			name: "a text in a spelling of its own that means the same", known: planned(put(mapping.Summary, "old", "new")), asked: savedAnd("Update"),
			answers: map[string]any{"Update": shows(2, map[mapping.Attribute]mapping.Versioned{mapping.Summary: versioned("NEW", 2)})}, check: agreedOn(mapping.Summary, "new", "NEW", 2),
		},
		{
			name: "a title in a spelling of its own", known: title, answers: map[string]any{"Update": titled("B", 2)}, asked: savedAnd(putTitle), want: anew, check: agreedOn(mapping.Title, "", "", 1),
		},
		{
			name: "without the value, which is read", known: title, answers: map[string]any{"Update": shows(2, nil), "ReadCard": mapping.Card{ID: "c", Version: 3, Title: versioned("b", 2)}},
			asked: savedAnd(putTitle, "ReadCard"), check: all(agreedOn(mapping.Title, "b", "b", 2), openWrites(0), is("the newest version is known", func(w work) bool { return w.pair.Card.Version == 3 })),
		},
		{
			name: "without a task's value, which is read", known: planned(put(mapping.State, mapping.StateTodo, mapping.StateDone)),
			answers: map[string]any{"Update": shows(2, nil), "ReadTask": mapping.Task{ID: "t", State: versioned(mapping.StateDone, 2)}}, asked: savedAnd("Update", "ReadTask"),
			check: agreedOn(mapping.State, mapping.StateDone, mapping.StateDone, 2),
		},
		{
			name: "without the value, which cannot be read: the next claim finds out", known: title, answers: map[string]any{"Update": shows(2, nil), "ReadCard": errAway},
			asked: savedAnd(putTitle, "ReadCard"), err: "unavailable", check: all(openWrites(1), agreedOn(mapping.Title, "", "", 1), tells()),
		},
	})
}
