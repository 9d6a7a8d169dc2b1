package mapping

// Authorship is how certain it is that an account is the bridge's own. Higher is more certain.
type Authorship int

// The degrees of certainty.
const (
	// Theirs: another account.
	Theirs Authorship = iota
	// Unknown: GitHub does not name the bridge's account, and this may be it. The marker
	// decides about an item of this account, and the value about a write.
	Unknown
	// Answered: GitHub does not name the bridge's account, but an answer to one of our writes
	// named this one. People may use the same account.
	Answered
	// Named: GitHub or the configuration names it as the bridge's.
	Named
)

// Ours reports whether the account is known to be the bridge's own.
func (w Authorship) Ours() bool { return w >= Answered }

// Perhaps reports whether the account is, or may be, the bridge's own.
func (w Authorship) Perhaps() bool { return w > Theirs }

// Made reports whether the bridge made an issue, given its author. The author alone decides only
// where no person can use the bridge's account. Otherwise the issue also needs a marker.
func (k Keys) Made(issue *Issue, author Authorship) bool {
	return author == Named || author.Perhaps() && k.Marked(issue.Body)
}

// Marked reports whether a body has a marker of the kinds that the bridge puts on issues.
func (k Keys) Marked(body string) bool {
	_, marks := k.Body(body)
	for _, m := range marks {
		if m.Kind == MarkIssue || m.Kind == MarkSubIssue {
			return true
		}
	}
	return false
}
