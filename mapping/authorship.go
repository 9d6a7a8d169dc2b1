package mapping

// Authorship says what is known of whether an account is the bridge's own. The more
// is known, the higher it is.
type Authorship int

// What may be known of an account.
const (
	// Theirs: it is another's.
	Theirs Authorship = iota
	// Unknown: GitHub does not tell the bridge's own account, and this may be
	// it. What it made is judged by its marker, what it wrote by its value.
	Unknown
	// Answered: GitHub does not tell, but answered to a write of ours that this
	// account made it. People may use the same account.
	Answered
	// Named: GitHub or the configuration names it as the bridge's.
	Named
)

// Ours reports whether the account is known to be the bridge's own.
func (w Authorship) Ours() bool { return w >= Answered }

// Perhaps reports whether the account is, or may be, the bridge's own.
func (w Authorship) Perhaps() bool { return w > Theirs }

// Made reports whether the bridge made an issue, given what is known of its
// author: by the author's name alone only where that is the bridge's and nobody
// else's, else by a marker as well.
func (k Keys) Made(issue *Issue, author Authorship) bool {
	return author == Named || author.Perhaps() && k.Marked(issue.Body)
}

// Marked reports whether a body carries a marker of those that the bridge gives
// the issues it makes.
func (k Keys) Marked(body string) bool {
	_, marks := k.Body(body)
	for _, m := range marks {
		if m.Kind == MarkIssue || m.Kind == MarkSubIssue {
			return true
		}
	}
	return false
}
