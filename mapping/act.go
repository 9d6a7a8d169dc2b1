package mapping

// Act is a change of an issue's state or of its labels, as GitHub's list of events names it.
type Act struct {
	Event string // closed, reopened, labeled or unlabeled
	Label string // of the last two
}

// The events that close and open an issue, and that put a label on it or take it off.
const (
	ActClosed    = "closed"
	ActReopened  = "reopened"
	ActLabeled   = "labeled"
	ActUnlabeled = "unlabeled"
)

// ActOf returns the act that brings an issue from one value of an attribute to another one. It is the
// zero Act where no event names the change, as that of a text.
func (s LabelScheme) ActOf(a Attribute, from, to string) Act {
	spec := a.Spec()
	switch done := to == StateDone; {
	case spec.Relabel == nil:
		return Act{}
	case spec.Carrier == CarrierState && done && from != StateDone:
		return Act{Event: ActClosed}
	case spec.Carrier == CarrierState && !done && from == StateDone:
		return Act{Event: ActReopened}
	}
	held, _ := spec.Relabel(s, nil, from)
	switch add, remove := spec.Relabel(s, held, to); {
	case len(add) > 0:
		return Act{ActLabeled, add[0]}
	case len(remove) > 0:
		return Act{ActUnlabeled, remove[0]}
	}
	return Act{}
}

// Opposite returns the act that takes this one back.
func (a Act) Opposite() Act {
	event := map[string]string{ActClosed: ActReopened, ActReopened: ActClosed, ActLabeled: ActUnlabeled, ActUnlabeled: ActLabeled}
	return Act{event[a.Event], a.Label}
}
