package mapping

import "cmp"

// An attribute is in conflict when both sides changed it to different values. The policy of the
// route names the winner, asks people, or merges.

// resolveConflict decides an attribute that both sides changed to different values.
func (in *Input) resolveConflict(a Attribute, base *Base, g string, p Versioned) Decision {
	met, asked := ConflictID(in.pair().Card.ID, a, g, p.Value), in.pair().Asking[a]
	if c := in.Questions[met]; c.State == ConflictAnswered {
		if asked != met {
			return asks(a, g, p, true, "an operator answered before all was asked")
		}
		d := in.win(a, c.Winner, g, p, cmp.Or(c.Rule, "an operator chose "+string(c.Winner)))
		d.By = c.AnsweredBy
		return d
	}
	switch in.Route.Policy(a) {
	case PolicyMerge:
		if merge := a.Spec().Merge; merge != nil && base != nil {
			if hub, plan, ok := merge(*base, g, p.Value); ok {
				return merged(a, hub, plan, g, p)
			}
		}
		return in.win(a, Planning, g, p, "policy merge: it does not merge, planning wins")
	case PolicyNewest:
		edited := map[Side]Interval{GitHub: in.edited(GitHub, a, g), Planning: in.edited(Planning, a, p.Value)}
		if winner, ok := newest(edited[GitHub], edited[Planning]); ok {
			return in.win(a, winner, g, p, "policy newest: "+string(winner)+" was edited later")
		}
		d := asks(a, g, p, asked != met, "policy newest: the times do not tell which edit was later")
		d.Edited = edited
		return d
	case PolicyAsk:
		return asks(a, g, p, asked == "" || in.Questions[asked].State == ConflictAnswered, "policy ask")
	case PolicyGitHub:
		return in.win(a, GitHub, g, p, "policy github")
	}
	return in.win(a, Planning, g, p, "policy planning")
}

func (in *Input) win(a Attribute, winner Side, g string, p Versioned, why string) Decision {
	var d Decision
	if winner == GitHub {
		d = in.toPlanning(a, g, p, why)
	} else {
		d = toGitHub(a, g, p, why)
	}
	d.Action, d.Winner, d.Loses = ResolveConflict, winner, true
	return d
}

// asks leaves both values to a person; fresh: nobody has been asked about them yet.
func asks(a Attribute, g string, p Versioned, fresh bool, why string) Decision {
	return Decision{
		Attribute: a, Action: Ask, Why: why, Loses: fresh,
		Base: Base{GitHub: g, Planning: p.Value, Version: p.Version},
	}
}

// merged writes a merge, one side at a time: planning first, where the lock decides. Until GitHub
// holds the merge as well, the base is GitHub's text on both sides, as the merge was made from all
// of it. The rest of the work is then a change of planning, also after a crash between the two
// writes. An edit that a person makes on GitHub meanwhile merges with it.
func merged(a Attribute, hub, plan, g string, p Versioned) Decision {
	d := Decision{Attribute: a, Action: MergeBoth, Why: "both sides changed different parts"}
	switch {
	case Same(a, plan, p.Value):
		d.GitHub = &Write{From: g, To: hub}
		d.Base = Base{GitHub: hub, Planning: p.Value, Version: p.Version}
	case Same(a, hub, g):
		d.Planning = &Write{From: p.Value, To: plan, Version: p.Version}
		d.Base = Base{GitHub: g, Planning: plan, Version: p.Version}
	default:
		d.Planning = &Write{From: p.Value, To: plan, Version: p.Version}
		d.Base = Base{GitHub: g, Planning: PlanningForm(a, g, p.Value), Version: p.Version}
	}
	return d
}

// mergeSummary merges in planning's representation, with nothing defused. Where
// planning normalised what it was sent, GitHub's edit is first carried over onto
// the normalised text, so that the normalisation itself is nobody's edit.
func mergeSummary(base Base, g, p string) (toGitHub, toPlanning string, ok bool) {
	theirs, agreed := Restore(g), restoreLinks(base.Planning)
	if sent := Restore(base.GitHub); Canonical(sent) != Canonical(agreed) {
		if theirs, ok = Merge(sent, theirs, agreed); !ok {
			return "", "", false
		}
	}
	m, ok := Merge(agreed, theirs, restoreLinks(p))
	if !ok {
		return "", "", false
	}
	return DefuseKeeping(legible(m), g), defuseLinks(m, p), true
}

// edited bounds when a side came to hold a value. A value that stood there when people were asked
// keeps the bounds known then. The present times may be those of another attribute's edit. For
// planning the present bounds serve where none were known then and they begin before the question.
func (in *Input) edited(side Side, a Attribute, value string) Interval {
	now := in.Edited[a][side]
	c, ok := in.Questions[in.pair().Asking[a]]
	held := c.GitHub
	if side == Planning {
		held = c.Planning
	}
	if !ok || !Same(a, held, value) {
		return now
	}
	if was := c.Edited[side]; was.isKnown() || side == GitHub || !now.From.Before(c.At) {
		return was
	}
	return now
}

// newest compares two edits of which only bounds are known.
func newest(g, p Interval) (Side, bool) {
	switch {
	case !g.isKnown() || !p.isKnown():
		return "", false
	case g.From.After(p.To):
		return GitHub, true
	case p.From.After(g.To):
		return Planning, true
	}
	return "", false
}

// Overrun decides about an edit of GitHub that our write of planning's value ran over and that does
// not merge with it. The route's policy decides. Where a side wins the base stays, so that a
// restored edit is a change of GitHub. Where people are asked the base is that of before the write
// (old; nil: none). Once the edit is restored both sides have changed since. edited gives the times
// of each side's edit.
func Overrun(route *Route, a Attribute, base Base, old *Base, edited map[Side]Interval) Decision {
	const why = "a write of ours ran over an edit; policy: "
	d := Decision{Attribute: a, Action: ResolveConflict, Winner: Planning, Loses: true, Base: base}
	if route.leader() == Planning {
		d.Why = "a write of ours ran over an edit; the route only goes " + string(route.Direction)
		return d
	}
	switch route.Policy(a) {
	case PolicyGitHub:
		d.Winner = GitHub
	case PolicyNewest:
		if winner, ok := newest(edited[GitHub], edited[Planning]); ok {
			d.Winner = winner
			break
		}
		d.Edited = edited
		fallthrough
	case PolicyAsk:
		d.Action, d.Winner, d.Base, d.Why = Ask, "", Base{}, why+"people are asked"
		if old != nil {
			d.Base = *old
		}
		return d
	}
	d.Why = why + string(d.Winner) + " wins"
	return d
}
