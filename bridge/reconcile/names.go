package reconcile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"planbridge/mapping"
)

// How people read what the core speaks of.

// where names a pair for people: by its issue, else by its card.
func where(p *mapping.Pair) string {
	if p.Issue.Number != 0 {
		return issueName(p.Issue.Repo, p.Issue.Number)
	}
	return strings.Replace(string(p.Partner()), ":", " ", 1)
}

func issueName(repo string, number int) string { return repo + "#" + strconv.Itoa(number) }

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(x, s) })
}

// differentIssue returns an error where another issue answers at the address of the link's own one.
// That is the same issue after transfers away and back, or the number of a repository that was made
// anew.
func differentIssue(own *mapping.IssueID, issue *mapping.Issue) error {
	switch {
	case own.ID == 0 || issue.ID == own.ID:
		return nil
	case issue.Author == own.Author && (own.Born.IsZero() || issue.CreatedAt.Equal(own.Born)):
		return &mapping.MovedError{Repo: issue.Repo, Number: issue.Number, Issue: issue}
	}
	return fmt.Errorf("%s is another issue now: %w", issueName(issue.Repo, issue.Number), mapping.ErrGone)
}
