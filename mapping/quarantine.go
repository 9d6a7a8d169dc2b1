package mapping

import "strings"

// These say whether strangers' issues on public repositories wait, see [Route.Quarantines].
const (
	QuarantineAuto = "auto"
	QuarantineOff  = "off"
)

// Quarantines reports whether an issue waits until a person with triage rights lets it in. Its
// repository is public, and its author is no owner, member, collaborator or contributor. An author
// without an association is a stranger.
func (r *Route) Quarantines(issue *Issue, public bool) bool {
	return public && r.Quarantine == QuarantineAuto && !contributes(strings.ToUpper(issue.Association))
}

// contributes reports whether an author_association, in upper case, is more than
// a stranger's.
func contributes(association string) bool {
	switch association {
	case "OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR":
		return true
	}
	return false
}

// Triage is one act by which somebody labelled or assigned an issue.
type Triage struct {
	Actor string // login; "" for a deleted account
	Human bool   // GitHub calls the account a User: no App, no organisation
}

// ReleasedBy reports whether an act lets the issue out of quarantine. GitHub takes labels and
// assignees from people with triage rights alone. An issue form adds labels in the author's name,
// and Apps label by rules that a stranger's text can meet. So neither counts, nor does the bridge's
// own account.
func (i *Issue) ReleasedBy(t Triage, actor Authorship) bool {
	return t.Human && t.Actor != "" && !strings.EqualFold(t.Actor, i.Author) && !actor.Ours()
}

// Untriaged reports whether the issue itself shows that nobody labelled or assigned it since it was
// opened. It has neither label nor assignee, and nothing happened to it since.
func (i *Issue) Untriaged() bool {
	return len(i.Labels) == 0 && len(i.Assignees) == 0 && !i.UpdatedAt.After(i.CreatedAt)
}
