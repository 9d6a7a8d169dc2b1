package reconcile

import (
	"slices"

	"planbridge/mapping"
)

// want is one item that is to be made.
type want struct {
	w      work // the work on its link
	intent *mapping.Intent
	done   bool // its item is known
	// answered: a request for several items was refused with this one in it. The item may
	// exist, and no request for it is under way.
	answered bool
	err      error // then: why it could not be linked

	// base is the base that both sides will have. One half of it is sent.
	base    map[mapping.Attribute]mapping.Base
	item    *NewItem           // the content where base is not it, as of a checklist line's task
	user    string             // planning's user who makes it
	buckets []mapping.ObjectID // the ids by which its bucket may be addressed
	shown   []string           // labels that only project planning's state
}

func notMade(wants []*want) []*want {
	return slices.DeleteFunc(slices.Clone(wants), func(k *want) bool { return k.done })
}

// has returns the parts of an item on the side where it is to be made.
func (k *want) has(side mapping.Side) (has []omittable) {
	summary, estimate := k.base[mapping.Summary], k.base[mapping.Estimate]
	text := *sideValue(side, &summary)
	for t, there := range map[omittable]bool{
		theUser: k.user != "" && k.user != k.w.route.Username, theBucket: len(k.buckets) > 1, theShown: len(k.shown) > 0,
		theEstimate: *sideValue(side, &estimate) != "", theText: text != "",
		theLongText: text != "" && mapping.TooLong(signer(k.w).issueText(text)),
	} {
		if there {
			has = append(has, t)
		}
	}
	return has
}

// without removes a part from the item that is to be made.
func (k *want) without(side mapping.Side, t omittable, why *mapping.Rejection) {
	a := mapping.Summary
	switch t {
	case theUser:
		planningWriter(k.w).refuseUser(k.user, why)
		k.user = k.w.route.Username
		return
	case theBucket:
		_ = get(k.w, Remember{refusing(k.buckets[0]), 1})
		k.buckets = k.buckets[1:]
		return
	case theShown:
		k.shown = nil
		return
	case theEstimate:
		a = mapping.Estimate
	}
	base := k.base[a]
	value := sideValue(side, &base)
	saver(k.w).refuseValue(side, a, *value, why)
	*value = ""
	k.base[a] = base
}

func refusing(bucket mapping.ObjectID) string { return "takes no card: " + string(bucket) }

// noteFoundBy takes the text whose marker led to the pair's partner. A marker of another link
// belongs to an earlier epoch, whose items this link may not know.
func (w creator) noteFoundBy(text string) {
	_, marks := w.set.Keys.Body(text)
	if !w.pair.IsTask() && !slices.ContainsFunc(marks, func(m mapping.Marker) bool { return m.Link == w.link.ID }) {
		w.link.Epoch = ""
	}
}
