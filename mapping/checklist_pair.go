package mapping

// Line is the known state of a checklist item's line in a body.
type Line struct {
	Text string // in planning's form (see [ItemView]), as it was last known
	// To is the text that a write of unknown outcome may have given the line, or its task's present
	// title; "" for none.
	To string
	// Away: the item is not known to have a line now, so that it matches only a line with exactly
	// its text.
	Away bool
}

// FindLines finds the known lines in the present items of a body. For each item it returns the
// position in known, or -1 for a new one. Lines that are not away stand in the order of the body;
// [MatchItems] says how they are matched.
func FindLines(known []Line, now []Item) []int {
	texts := make([]string, len(now))
	there := map[string]bool{}
	for i, item := range now {
		texts[i] = itemTitle(item)
		there[texts[i]] = true
	}
	var old []string
	var place []int // in known, of each of old
	for k, line := range known {
		if line.Away {
			continue
		}
		text := CanonicalTitle(line.Text)
		if to := CanonicalTitle(line.To); to != "" && there[to] && !there[text] {
			text = to
		}
		old, place = append(old, text), append(place, k)
	}
	found := MatchItems(old, texts)
	for i, o := range found {
		if o >= 0 {
			found[i] = place[o]
		}
	}
	away := map[string][]int{} // places in known, by text
	for k, line := range known {
		if line.Away {
			text := CanonicalTitle(line.Text)
			away[text] = append(away[text], k)
		}
	}
	for i, text := range texts {
		if found[i] < 0 && len(away[text]) > 0 {
			found[i], away[text] = away[text][0], away[text][1:]
		}
	}
	return found
}

// ItemView reads a checklist item as GitHub's side of a pair with a task. Its text is in planning's
// form. Its state is done where it is ticked, else to do.
func ItemView(item Item) View {
	state := StateTodo
	if item.Checked {
		state = StateDone
	}
	return View{Title: {Value: itemTitle(item)}, State: {Value: state}}
}

func itemTitle(item Item) string { return CanonicalTitle(Restore(item.Text)) }

// ItemTaskView reads a task as planning's side of a pair with a checklist item. A task in progress
// reads as to do, as an item cannot show progress. So a task goes into progress without a change of
// its item, and stays in it while only the item's text changes.
func ItemTaskView(t *Task) View {
	return View{Title: t.Title, State: ItemState(t.State)}
}

// ItemState is a task's state as [ItemTaskView] reads it.
func ItemState(v Versioned) Versioned {
	if v.Value != StateDone {
		v.Value = StateTodo
	}
	return v
}

// ItemText is a task's title as it is written into an item whose text is held. References do not
// link, and references that are live in held stay live.
func ItemText(title, held string) string {
	return DefuseKeeping(CanonicalTitle(title), held)
}
