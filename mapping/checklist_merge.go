package mapping

// MergeBodies is [Merge] for bodies with checklists: texts are merged by lines, items one by one,
// so that ticks of neighbours do not conflict. It reports false where the texts do not merge, or
// both sides gave one item a new name.
//
// An item that one side removed and the other changed stays, as changed. New items of b are put
// behind the last list of a. An item that both made becomes one, ticked where either is.
//
// For every b, x and y, where the merges are clean:
//
//	MergeBodies(b, x, b) = x
//	MergeBodies(b, b, y) = y, but for where new items stand
//	Items(MergeBodies(b, x, y)) = Items(MergeBodies(b, y, x)), in another order
func MergeBodies(base, a, b string) (merged string, clean bool) {
	text, ok := Merge(WithoutItems(base), WithoutItems(a), WithoutItems(b))
	if !ok {
		return "", false
	}
	want, ok := mergeItems(Items(base), Items(a), Items(b))
	if !ok {
		return "", false
	}
	return WithText(SetItems(a, want), text), true
}

// mergeItems returns the changes to the items of a.
func mergeItems(base, a, b []Item) (want []Item, clean bool) {
	inA, newA := itemsOf(base, a)
	inB, newB := itemsOf(base, b)
	for k, was := range base {
		ours, inOurs := inA[k]
		theirs, inTheirs := inB[k]
		switch {
		case !inOurs && !inTheirs:
		case !inOurs:
			if !sameItem(was, theirs) {
				want = append(want, Item{Text: theirs.Text, Checked: theirs.Checked})
			}
		case !inTheirs:
			ours.Remove = sameItem(was, ours)
			want = append(want, ours)
		default:
			if ours.Checked == was.Checked {
				ours.Checked = theirs.Checked
			}
			switch text := CanonicalTitle(was.Text); {
			case CanonicalTitle(theirs.Text) == text:
			case CanonicalTitle(ours.Text) == text:
				ours.Text = theirs.Text
			case CanonicalTitle(ours.Text) != CanonicalTitle(theirs.Text):
				return nil, false
			}
			want = append(want, ours)
		}
	}
	made := map[string][]Item{} // the new ones of a, by text
	for _, item := range newA {
		text := CanonicalTitle(item.Text)
		made[text] = append(made[text], item)
	}
	for _, item := range newB {
		text := CanonicalTitle(item.Text)
		if len(made[text]) == 0 {
			want = append(want, Item{Text: item.Text, Checked: item.Checked})
			continue
		}
		ours := made[text][0]
		made[text] = made[text][1:]
		ours.Checked = ours.Checked || item.Checked
		want = append(want, ours)
	}
	return want, true
}

// itemsOf finds the items of base among others, by their place in base, and
// returns those that are new.
func itemsOf(base, others []Item) (found map[int]Item, fresh []Item) {
	found = map[int]Item{}
	for i, k := range MatchItems(texts(base), texts(others)) {
		if k < 0 {
			fresh = append(fresh, others[i])
			continue
		}
		found[k] = others[i]
	}
	return found, fresh
}

func texts(items []Item) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item.Text
	}
	return out
}
