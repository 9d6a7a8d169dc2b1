package planning

import (
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
)

// The types of this file read the planning service's values in every spelling of its samples and
// of real data (docs/planning-api.md 2.1). A value of an unexpected shape reads as empty, as one
// odd field must not cost the whole listing. Only invalid JSON is an error, from the decoder.

// reader is the interface of all these types.
type reader interface{ UnmarshalJSON([]byte) error }

// versioned is an attribute, `{value, version}`. A bare value has no version.
type versioned[T any] struct {
	Value   T
	Version int64
	Told    bool // the attribute exists
}

func (v *versioned[T]) UnmarshalJSON(raw []byte) error {
	*v = versioned[T]{}
	value, wrapped := raw, false
	for key, member := range members(raw) {
		switch string(key) {
		case "value":
			value, wrapped = member, true
		case "version":
			v.Version, _ = parseInteger(scalar(member))
			if !wrapped {
				value, wrapped = nil, true
			}
		}
	}
	v.Told = wrapped || raw[0] != 'n' // null
	if len(value) == 0 {
		return nil
	}
	return any(&v.Value).(reader).UnmarshalJSON(value)
}

// text is a string; numbers and booleans become their text.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	*t = text(scalar(raw))
	return nil
}

// rich is rich text, read as its Markdown: "", null, a bare string, or {markdown, html} (facts of
// real data). HTML alone is used as Markdown, which allows it.
type rich string

func (r *rich) UnmarshalJSON(raw []byte) error {
	*r = rich(scalar(raw))
	for key, member := range members(raw) {
		if string(key) == "markdown" && member[0] != 'n' {
			*r = rich(scalar(member))
			break
		}
		if string(key) == "html" {
			*r = rich(scalar(member))
		}
	}
	return nil
}

// oid is an object id: `{"$oid": …}` or the bare string.
type oid mapping.ObjectID

func (o *oid) UnmarshalJSON(raw []byte) error {
	*o = oid(scalar(raw))
	for key, member := range members(raw) {
		if string(key) == "$oid" {
			*o = oid(scalar(member))
		}
	}
	return nil
}

// bucketState is a card's state as the id of its bucket. A sprint listing may show null or a word
// such as in-progress instead (docs/planning-api.md 2.4).
type bucketState oid

func (b *bucketState) UnmarshalJSON(raw []byte) error {
	*b = ""
	var o oid
	if err := o.UnmarshalJSON(raw); err != nil {
		return err
	}
	if raw[0] == '{' || looksLikeID(string(o)) {
		*b = bucketState(o)
	}
	return nil
}

// looksLikeID distinguishes an object id (24 hexadecimal digits in every sample) from a word.
func looksLikeID(s string) bool {
	return len(s) == 24 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// number is a decimal number in canonical text (see [ParseNumber]), "" for null. A text that is
// no number stays as it is, since people see it there.
type number string

func (n *number) UnmarshalJSON(raw []byte) error {
	s := strings.TrimSpace(string(scalar(raw)))
	if canonical, ok := ParseNumber(s); ok {
		s = canonical
	}
	*n = number(s)
	return nil
}

func (n number) float() float64 {
	f, _ := parseFloat(string(n))
	return f
}

// float reads a number, 0 for anything else.
func float(raw []byte) float64 {
	text := scalar(raw)
	if n, ok := parseInteger(text); ok {
		return float64(n)
	}
	f, _ := parseFloat(string(text))
	return f
}

// ParseNumber returns the canonical decimal text of a number, as estimates have it in package
// mapping ("3", "0.5", "-1"). It has no exponent, no needless zeros and no plus sign. It reports
// false for other text, and beyond ±1e15, which no estimate reaches.
func ParseNumber(s string) (string, bool) {
	f, ok := parseFloat(s)
	switch {
	case !ok:
		return "", false
	case f == 0:
		return "0", true // and not "-0"
	}
	return strconv.FormatFloat(f, 'f', -1, 64), true
}

func parseFloat(s string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(f > -1e15 && f < 1e15) || strings.ContainsAny(s, "xX_") {
		return 0, false
	}
	return f, true
}

// integer is a whole number; it also reads floats (1.0) and numeric strings.
type integer int64

func (i *integer) UnmarshalJSON(raw []byte) error {
	n, _ := parseInteger(scalar(raw))
	*i = integer(n)
	return nil
}

// parseInteger reads "7", "7.0" and "7e0"; it reports false for anything not whole or not exact.
func parseInteger(text []byte) (int64, bool) {
	if len(text) == 1 && text[0] >= '0' && text[0] <= '9' { // most versions
		return int64(text[0] - '0'), true
	}
	s := strings.TrimSpace(string(text))
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > -1<<53 && f < 1<<53) || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// flag is a boolean, also as text or 0 and 1.
type flag bool

func (f *flag) UnmarshalJSON(raw []byte) error {
	b, _ := strconv.ParseBool(string(scalar(raw)))
	*f = flag(b)
	return nil
}

// stamp is a moment in UTC: `{"$date": …}` or bare, as ISO 8601 text or as milliseconds since
// 1970. An unreadable one is the zero time.
type stamp time.Time

// A time without a zone is UTC (docs/planning-api.md 2.1).
var stampLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", time.DateOnly}

func (s *stamp) UnmarshalJSON(raw []byte) error {
	*s = stamp{}
	for range 2 { // {"$date": {"$numberLong": "…"}} is the deepest form
		for key, member := range members(raw) {
			if string(key) == "$date" || string(key) == "$numberLong" {
				raw = member
				break
			}
		}
	}
	value := scalar(raw)
	if ms, ok := parseInteger(value); ok {
		*s = stamp(time.UnixMilli(ms).UTC())
		return nil
	}
	for _, layout := range stampLayouts {
		if t, err := time.Parse(layout, string(value)); err == nil {
			*s = stamp(t.UTC())
			return nil
		}
	}
	return nil
}
