package mapping

// Line is what is known of the line that a checklist item has in a body.
type Line struct {
	Text string // in planning's form (see [ItemView]), as it was last known
	// To is what a write whose outcome is not known may have made of it, or what
	// its task is called by now; "" for none.
	To string
	// Away: it is not known to have a line now, so that only one with its very
	// text is its own.
	Away bool
}

// FindLines finds the lines that are known in a body as it is now: for each of
// its items it answers the place in known, or -1 where the item is new. Lines
// that are not away stand in the order of the body; how they are found again is
// said at [MatchItems].
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

// ItemView reads a checklist item as GitHub's side of a pair with a task: its
// text in planning's form, and done where it is ticked, else to do.
func ItemView(item Item) View {
	state := StateTodo
	if item.Checked {
		state = StateDone
	}
	return View{Title: {Value: itemTitle(item)}, State: {Value: state}}
}

func itemTitle(item Item) string { return CanonicalTitle(Restore(item.Text)) }

// ItemTaskView reads a task as planning's side of a pair with a checklist item,
// which cannot show that it is in progress: to an item that is to do. So a task
// goes into progress without a change of its item, and stays in it while only
// the item's text changes.
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

// ItemText is a task's title as it is written into an item that says held now:
// references do not link, and what is live in held stays live.
func ItemText(title, held string) string {
	return DefuseKeeping(CanonicalTitle(title), held)
}
