package reconcile

import "planbridge/mapping"

// The bases of an item that is new: what both sides agree on from its first moment.

func baseOf(github string, p mapping.Versioned) mapping.Base {
	return mapping.Base{GitHub: github, Planning: p.Value, Version: p.Version}
}

// initialState is the first base of a part's state. A new task is to do (planning-api.md part
// 3), and a new issue is open. Any other state of the person's item is a change of its side.
func initialState(now mapping.Versioned) mapping.Base {
	base := mapping.Base{GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: now.Version}
	if now.Value != "" && now.Value != mapping.StateTodo {
		base.Version--
	}
	return base
}

// sideValue is the half of a base that belongs to a side.
func sideValue(side mapping.Side, b *mapping.Base) *string {
	if side == mapping.GitHub {
		return &b.GitHub
	}
	return &b.Planning
}
