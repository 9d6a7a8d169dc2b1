package effects

import (
	"time"

	"planbridge/bridge/reconcile"
)

// readsGitHub carries out an effect that only reads GitHub. It reports whether the effect is one.
func (h *executor) readsGitHub(effect any, answer func(any, error)) bool {
	switch e := effect.(type) {
	case reconcile.ReadIssue:
		answer(h.GitHub.Issue(h.ctx, e.Repo, e.Number))
	case reconcile.ReadSubIssues:
		answer(h.GitHub.SubIssues(h.ctx, e.Repo, e.Number))
	case reconcile.ReadComments:
		answer(h.GitHub.Comments(h.ctx, e.Repo, e.Number, time.Time{}))
	case reconcile.ReadEdits:
		answer(h.GitHub.Edits(h.ctx, e.Issue, e.Attribute))
	case reconcile.ReadActed:
		answer(h.GitHub.Acted(h.ctx, e.Repo, e.Number, e.Since, e.Act))
	case reconcile.ReadLastNumber:
		answer(h.GitHub.LastNumber(h.ctx, e.Repo))
	case reconcile.ReadPrivate:
		answer(h.GitHub.Private(h.ctx, e.Repo))
	case reconcile.ReadArchived:
		answer(h.GitHub.Archived(h.ctx, e.Repo))
	case reconcile.Locate:
		answer(h.GitHub.Locate(h.ctx, e.Repo, e.ID, e.Anew))
	case reconcile.ReadRepositoryID:
		answer(h.GitHub.RepositoryID(h.ctx, e.Repo))
	default:
		return false
	}
	return true
}

// writesGitHub carries out a write to GitHub. It reports whether the effect is one.
// [reconcile.BeginWrite] came before each.
func (h *executor) writesGitHub(effect any, answer func(any, error)) bool {
	switch e := effect.(type) {
	case reconcile.CreateIssue:
		answer(h.GitHub.CreateIssue(h.writing, e.Repo, e.Issue))
	case reconcile.EditIssue:
		answer(h.GitHub.EditIssue(h.writing, e.Repo, e.Number, e.Edit))
	case reconcile.AddLabels:
		answer(h.addLabels(e))
	case reconcile.RemoveLabel:
		answer(h.removeLabel(e))
	case reconcile.AddSubIssue:
		answer(only(h.GitHub.AddSubIssue(h.writing, e.Repo, e.Number, e.Sub)))
	case reconcile.CreateComment:
		answer(h.GitHub.CreateComment(h.writing, e.Repo, e.Number, e.Body))
	case reconcile.Assign:
		answer(h.GitHub.Assign(h.writing, e.Repo, e.Number, e.Logins))
	case reconcile.Unassign:
		answer(h.GitHub.Unassign(h.writing, e.Repo, e.Number, e.Logins))
	case reconcile.EnsureLabel: // harmless when repeated
		answer(only(h.ensureLabel(e)))
	case reconcile.EnsureMilestone: // it has a lease of its own
		answer(h.ensureMilestone(e))
	default:
		return false
	}
	return true
}
