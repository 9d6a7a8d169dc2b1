package mapping

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reviews of a card, as labels show them after their prefix.
const (
	ReviewApproved  = "Approved"
	ReviewPartially = "Partially"
	ReviewRejected  = "Rejected"
)

// Counters' status, as labels show it after their prefix.
const (
	shownTodo       = "To Do"
	shownInProgress = "In Progress"
	shownDone       = "Done"
)

// ReviewOf reads an iterationReview. Only the beginnings of its spelling are known, in any case:
// approv…, partial… and reject…. It returns "" for none and for an unknown word.
func ReviewOf(iterationReview string) string {
	word := strings.ToLower(strings.TrimSpace(iterationReview))
	for _, r := range []struct{ prefix, review string }{
		{"approv", ReviewApproved}, {"partial", ReviewPartially}, {"reject", ReviewRejected},
	} {
		if strings.HasPrefix(word, r.prefix) {
			return r.review
		}
	}
	return ""
}

// Verdict is the effect of a card's review on its issue.
type Verdict string

// The verdicts. Those that close are GitHub's own state_reason.
const (
	VerdictNone            Verdict = ""      // nothing
	VerdictLabel           Verdict = "label" // the label changes, the issue does not
	VerdictCloseCompleted  Verdict = "completed"
	VerdictCloseNotPlanned Verdict = "not_planned"
)

// ReviewAction decides the effect of a review on an issue. Its inputs are the review that was last
// acted on ([Link].Review), the card's present one, and the state (open or closed). It acts
// once for each changed value, so that a person can reopen what an approval closed. The caller
// records the value as acted on, also where the verdict is to do nothing.
//
//	| last → now                   | open issue            | closed issue |
//	|------------------------------|-----------------------|--------------|
//	| the same                     | nothing               | nothing      |
//	| anything → approved          | close, completed      | label        |
//	| anything → rejected          | close, not planned    | label        |
//	| anything → partially         | label                 | label        |
//	| anything → none, or unknown  | label (it is removed) | label        |
func ReviewAction(last, now, state string) Verdict {
	switch was, is := ReviewOf(last), ReviewOf(now); {
	case was == is:
		return VerdictNone
	case is == ReviewApproved && state == "open":
		return VerdictCloseCompleted
	case is == ReviewRejected && state == "open":
		return VerdictCloseNotPlanned
	}
	return VerdictLabel
}

// LabelSpec is a label as it is created.
type LabelSpec struct {
	Name        string
	Color       string // six hexadecimal digits
	Description string // at most 100 characters
}

// ProjectLabels returns which labels to add to an issue's current ones, and which to remove, so
// that they show the card's counters, review and bucket. It touches no label but <prefix>To Do, In
// Progress and Done, <prefix>Approved, Partially and Rejected, and bucket:…. A second projection of
// the outcome is empty. A card without counters or with an unknown status shows no status. A card
// whose bucket's name is not known leaves the bucket labels as they are.
func ProjectLabels(current []string, card *Card, s LabelScheme) (add, remove []string) {
	want := s.projected(card)
	for _, label := range current {
		if s.isProjection(label, card.BucketName != "") && !hasLabel(want, label) {
			remove = append(remove, label)
		}
	}
	for _, label := range want {
		if !hasLabel(current, label) {
			add = append(add, label)
		}
	}
	return add, remove
}

// projected returns the labels that a card shows as.
func (s LabelScheme) projected(card *Card) []string {
	var labels []string
	if card.Counters != nil {
		if shown := shownStatus(card.Counters.Status); shown != "" {
			labels = append(labels, s.Prefix+shown)
		}
	}
	if review := ReviewOf(card.Review); review != "" {
		labels = append(labels, s.Prefix+review)
	}
	if bucket := BucketLabel(card.BucketName); bucket != "" {
		labels = append(labels, bucket)
	}
	return labels
}

// isProjection reports whether a label is one that projections set.
func (s LabelScheme) isProjection(label string, buckets bool) bool {
	for _, shown := range []string{shownTodo, shownInProgress, shownDone, ReviewApproved, ReviewPartially, ReviewRejected} {
		if strings.EqualFold(label, s.Prefix+shown) {
			return true
		}
	}
	return buckets && hasPrefixFold(label, bucketPrefix)
}

// shownStatus reads the status of counters, in any case and punctuation.
func shownStatus(status string) string {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, status)
	switch letters {
	case "todo":
		return shownTodo
	case "inprogress":
		return shownInProgress
	case "done":
		return shownDone
	}
	return ""
}

// BucketLabel returns the label for a bucket's title, "" for none. GitHub takes no comma and 50
// characters. A comma becomes a semicolon, and a long title is cut. Such a label ends in a tilde
// and six digits of the title's SHA-256, so that different titles stay different labels.
func BucketLabel(title string) string {
	title = CanonicalTitle(title)
	if title == "" {
		return ""
	}
	name := strings.ReplaceAll(title, ",", ";")
	room := MaxLabel - len(bucketPrefix)
	if name == title && utf8.RuneCountInString(name) <= room {
		return bucketPrefix + name
	}
	sum := sha256.Sum256([]byte(title))
	hash := "~" + hex.EncodeToString(sum[:])[:6]
	if runes := []rune(name); len(runes) > room-len(hash) {
		name = strings.TrimSpace(string(runes[:room-len(hash)]))
	}
	return bucketPrefix + name + hash
}

// Spec returns how a label of the bridge is created: its colour and its description. The colour
// follows the label's meaning, so that a list of issues can be read at a glance.
func (s LabelScheme) Spec(label string) LabelSpec {
	spec := LabelSpec{Name: label, Color: "ededed", Description: "Set by planbridge"}
	for _, known := range []LabelSpec{
		{s.Prefix + shownTodo, "d4c5f9", "Planning: no task has been begun"},
		{s.Prefix + shownInProgress, "fbca04", "Planning: tasks are being worked on"},
		{s.Prefix + shownDone, "0e8a16", "Planning: all tasks are done"},
		{s.Prefix + ReviewApproved, "2cbe4e", "Planning: approved in the sprint's review"},
		{s.Prefix + ReviewPartially, "e4a11b", "Planning: partially approved in the sprint's review"},
		{s.Prefix + ReviewRejected, "d73a4a", "Planning: rejected in the sprint's review"},
		{s.Prefix + "conflict", "b60205", "Planning and GitHub differ: make them the same, or ask an operator"},
		{s.Prefix + ignoreLabel, "ededed", "Kept out of planning"},
		{s.InProgress, "fbca04", "Being worked on"},
	} {
		if strings.EqualFold(known.Name, label) {
			return LabelSpec{label, known.Color, known.Description}
		}
	}
	_, points := patternValue(s.Estimate, label)
	_, hours := patternValue(s.Hours, label)
	switch {
	case points:
		spec.Color, spec.Description = "bfdadc", "Estimate in story points"
	case hours:
		spec.Color, spec.Description = "bfdadc", "Estimate in hours"
	case hasPrefixFold(label, bucketPrefix):
		spec.Color, spec.Description = "c5def5", "Planning: the card's bucket"
	}
	return spec
}
