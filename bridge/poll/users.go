package poll

import (
	"slices"
	"strings"

	"planbridge/mapping"
)

// Who works on a card's tasks is shown by the listing of its sprint alone. So
// that a sight of the card in the backlog, or in a round that leaves out an
// ended sprint, is no change, the users are remembered with the card.

// recallUsers completes a sight that does not tell the users.
func recallUsers(c *mapping.Card, k *known) {
	if c.Users == nil {
		c.Users = k.users
	}
}

// keptUsers copies the users: they may be part of a whole answer.
func keptUsers(users []string) []string {
	if users == nil {
		return nil
	}
	out := make([]string, len(users))
	for i, u := range users {
		out[i] = strings.Clone(u)
	}
	return out
}

// markUsers is the users' part of a card's mark: none where they are not known,
// a bare separator where there is nobody.
func markUsers(users []string) string {
	if users == nil {
		return ""
	}
	return "\x1e" + strings.Join(users, "\x1f")
}

// cutUsers takes it off a mark.
func cutUsers(mark string) (rest string, users []string) {
	rest, text, known := strings.Cut(mark, "\x1e")
	switch {
	case !known:
		return rest, nil
	case text == "":
		return rest, []string{}
	}
	return rest, slices.Clip(strings.Split(text, "\x1f"))
}
