package mapping

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxLabel is the longest name of a label that GitHub takes, in characters.
const MaxLabel = 50

const (
	placeholder  = "{value}"
	bucketPrefix = "bucket:"
	ignoreLabel  = "ignore"
)

// LabelScheme is how planning's values show as labels. To GitHub, names that differ in case are one
// label, so case never counts here.
type LabelScheme struct {
	Prefix     string // of the projections: "plan:"
	InProgress string // on an open issue that is being worked on
	Estimate   string // "points/{value}"
	Hours      string // "hours/{value}", on sub-issues
	Card       string // "card/{value}", the number of the card; "": not shown
}

// Validate reports all faults of the scheme.
func (s LabelScheme) Validate() error {
	errs := []error{
		validateLabel("prefix", s.Prefix, len("Partially")),
		validateLabel("in_progress", s.InProgress, 0),
		validatePattern("estimate", s.Estimate),
		validatePattern("hours", s.Hours),
	}
	if bothMatch(s.Estimate, s.Hours) {
		errs = append(errs, errors.New("estimate, hours: one label would match both"))
	}
	if s.Card != "" {
		errs = append(errs, validatePattern("card", s.Card))
		if bothMatch(s.Card, s.Estimate) || bothMatch(s.Card, s.Hours) {
			errs = append(errs, errors.New("card: one label would match it and estimate or hours"))
		}
	}
	if s.Owned(s.InProgress) {
		errs = append(errs, fmt.Errorf("in_progress: %q is one of the labels that the bridge owns, but people set it", s.InProgress))
	}
	return errors.Join(errs...)
}

// bothMatch reports whether a label of one of two patterns fits the other.
func bothMatch(x, y string) bool {
	_, ofX := patternValue(x, patternLabel(y, "1"))
	_, ofY := patternValue(y, patternLabel(x, "1"))
	return ofX || ofY
}

func validatePattern(name, pattern string) error {
	if strings.Count(pattern, placeholder) != 1 {
		return fmt.Errorf("%s: %q must contain %s exactly once", name, pattern, placeholder)
	}
	// Room for a value of ten characters.
	return validateLabel(name, strings.Replace(pattern, placeholder, "1", 1), 9)
}

// validateLabel checks a label's name that may grow by room characters.
func validateLabel(name, label string, room int) error {
	switch {
	case strings.TrimSpace(label) == "":
		return fmt.Errorf("%s: must not be empty", name)
	case strings.Contains(label, ","):
		return fmt.Errorf("%s: %q must not contain a comma", name, label)
	case utf8.RuneCountInString(label)+room > MaxLabel:
		return fmt.Errorf("%s: %q is too long, a label has at most %d characters", name, label, MaxLabel)
	}
	return nil
}

// EstimateOf reads the estimate from an issue's labels: its value ("" where there is none) and all
// labels that state one. Of several values the one that is not base wins, as it is newer; of
// several such the greatest.
func (s LabelScheme) EstimateOf(labels []string, base string) (value string, all []string) {
	return patternOf(s.Estimate, labels, base)
}

// EstimateLabel returns the label for an estimate, "" for none.
func (s LabelScheme) EstimateLabel(value string) string { return patternLabel(s.Estimate, value) }

// CardLabel returns the label for a card's number, "" where that is not shown or
// not known (0).
func (s LabelScheme) CardLabel(cid int64) string {
	if cid == 0 {
		return ""
	}
	return patternLabel(s.Card, strconv.FormatInt(cid, 10))
}

// IsCardLabel reports whether a label says a card's number. It may be a person's.
func (s LabelScheme) IsCardLabel(label string) bool {
	_, is := patternValue(s.Card, label)
	return is
}

// InProgressOn reports whether the in-progress label is among labels.
func (s LabelScheme) InProgressOn(labels []string) bool { return hasLabel(labels, s.InProgress) }

// Owned reports whether a label is the bridge's to add and remove. All others are people's, as are
// the in-progress label and <prefix>ignore, which people set.
func (s LabelScheme) Owned(label string) bool {
	if strings.EqualFold(label, s.Prefix+ignoreLabel) {
		return false
	}
	_, estimate := patternValue(s.Estimate, label)
	_, hours := patternValue(s.Hours, label)
	return estimate || hours || hasPrefixFold(label, bucketPrefix) || s.Prefix != "" && hasPrefixFold(label, s.Prefix)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func patternOf(pattern string, labels []string, base string) (value string, all []string) {
	base = CanonicalNumber(base)
	for _, label := range labels {
		v, ok := patternValue(pattern, label)
		if !ok {
			continue
		}
		if all = append(all, label); value == "" || value == base || v != base && size(v) > size(value) {
			value = v
		}
	}
	return value, all
}

func size(number string) float64 {
	f, _ := strconv.ParseFloat(number, 64) //nolint:errcheck // canonical numbers parse; one beyond float64 is +Inf
	return f
}

// patternValue returns the number that a label says by the pattern. A label that fits the pattern
// without a number is a person's.
func patternValue(pattern, label string) (string, bool) {
	before, after, ok := strings.Cut(pattern, placeholder)
	end := len(label) - len(after)
	if !ok || end < len(before) || !hasPrefixFold(label, before) || !strings.EqualFold(label[end:], after) {
		return "", false
	}
	value := CanonicalNumber(label[len(before):end])
	return value, value != ""
}

func patternLabel(pattern, value string) string {
	if value = CanonicalNumber(value); value == "" {
		return ""
	}
	return strings.Replace(pattern, placeholder, value, 1)
}

// maxNumber is the length of the longest spelling of a number that is read.
const maxNumber = 100

var decimal = regexp.MustCompile(`^0*([0-9]{1,30})(?:\.([0-9]{0,30}?)0*)?$`)

// CanonicalNumber returns the one spelling of a decimal number that is not negative: "3" for "3.0"
// and "03", "0.5" for "0.50". Other spellings ("+3", "1e3", ".5", "3,5", " 3"), and any longer than
// [maxNumber], are no numbers: the result is "".
func CanonicalNumber(s string) string {
	if len(s) > maxNumber {
		return ""
	}
	m := decimal.FindStringSubmatch(s)
	switch {
	case m == nil || strings.HasSuffix(s, "."):
		return ""
	case m[2] == "":
		return m[1]
	}
	return m[1] + "." + m[2]
}
