package mapping

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxMilestone is the longest title of a milestone that GitHub takes, in
// characters.
const MaxMilestone = 255

// Sprint is the part of a sprint that a milestone shows (docs/planning-api.md 2.5).
type Sprint struct {
	ID      ObjectID
	Title   string
	Summary string    // Markdown
	End     time.Time // in the project's time zone, which decides the day; zero: none
	Past    bool
}

// Milestone is a repository's milestone.
type Milestone struct {
	Number      int // 0: not created
	Title       string
	Description string
	State       string    // open or closed
	DueOn       time.Time // of which only the date counts, see [DueOn]; zero: none
}

// DueOn is a date as GitHub has to be sent it: noon UTC, since it keeps the
// date of that moment in Los Angeles.
func DueOn(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, time.UTC)
}

// FindMilestone returns the milestone of a sprint, by the signed marker in its description. It
// ignores the title, as people give that to other milestones, too.
func FindMilestone(existing []Milestone, sprint ObjectID, keys Keys) (Milestone, bool) {
	var found Milestone
	for _, m := range existing {
		if marksSprint(m.Description, sprint, keys) && (found.Number == 0 || m.Number < found.Number) {
			found = m
		}
	}
	return found, found.Number != 0
}

func marksSprint(description string, sprint ObjectID, keys Keys) bool {
	return slices.Contains(markedSprints(description, keys), sprint)
}

func markedSprints(description string, keys Keys) (sprints []ObjectID) {
	_, marks := keys.Body(description)
	for _, m := range marks {
		former := m.Kind == MarkSubIssue && m.Link == "" // the former mark of milestones
		if m.Kind == MarkSprint || former {
			sprints = append(sprints, ObjectID(m.Partner))
		}
	}
	return sprints
}

// ShowsSprint reports whether an issue's milestone is one that the bridge made for a sprint.
func ShowsSprint(issue *Issue, keys Keys) bool {
	return len(markedSprints(issue.MilestoneMark, keys)) > 0
}

// MilestoneMark is the part of a milestone's description that may hold the bridge's
// marker (see [Issue]).
func MilestoneMark(description string) string {
	if at := strings.LastIndex(description, "<!--"); at >= 0 {
		return description[at:]
	}
	return ""
}

// ProjectMilestone returns the milestone of a sprint as it has to be, given the repository's
// existing ones (open and closed). It reports whether that has to be written: created where its
// Number is 0. A second projection of the outcome writes nothing.
//
//	| sprint          | milestone                                                             |
//	|-----------------|-----------------------------------------------------------------------|
//	| title           | title, cut at 255 characters; with the end of the sprint's id behind   |
//	|                 | it where another milestone has that title, as GitHub takes it once     |
//	| summary         | description, with mentions and references defused and a marker         |
//	| end date        | due date                                                              |
//	| past, or not    | closed, or open                                                       |
func ProjectMilestone(sprint Sprint, existing []Milestone, keys Keys) (want Milestone, write bool) {
	now, _ := FindMilestone(existing, sprint.ID, keys)
	want = Milestone{
		Number:      now.Number,
		Title:       milestoneTitle(sprint, now, existing),
		Description: keys.AppendComment(Defuse(sprint.Summary), Marker{Kind: MarkSprint, Partner: string(sprint.ID)}),
		State:       "open",
		DueOn:       DueOn(sprint.End),
	}
	if sprint.Past {
		want.State = "closed"
	}
	nowText, _ := keys.Body(now.Description)
	wantText, _ := keys.Body(want.Description)
	same := now.Title == want.Title && now.State == want.State && DueOn(now.DueOn).Equal(want.DueOn) &&
		Canonical(nowText) == Canonical(wantText)
	return want, !same
}

// milestoneTitle returns a title that no milestone but the sprint's own has. One
// that once had to have the id behind it keeps it, so that sprints which change
// names with each other come to rest.
func milestoneTitle(sprint Sprint, now Milestone, existing []Milestone) string {
	title := CanonicalTitle(sprint.Title)
	if title == "" {
		title = "Sprint"
	}
	id := []rune(CanonicalTitle(string(sprint.ID)))
	suffix := " (" + string(id[max(0, len(id)-6):]) + ")"
	plain, long := cutTo(title, MaxMilestone), cutTo(title, MaxMilestone-utf8.RuneCountInString(suffix))+suffix
	taken := slices.ContainsFunc(existing, func(m Milestone) bool { return m.Number != now.Number && strings.EqualFold(m.Title, plain) })
	if taken || now.Title == long {
		return long
	}
	return plain
}

// cutTo cuts a text at a number of characters, of which the last is then an
// ellipsis.
func cutTo(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:limit-1])) + ellipsis
}
