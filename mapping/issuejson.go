package mapping

import (
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// AppendJSON adds the issue's JSON form to b, as encoding/json makes it. It is
// for the intake, which encodes an issue twice for each delivery: once to keep it
// and once for [DigestIssue].
func (i *Issue) AppendJSON(b []byte) []byte {
	b = appendInt(append(b, '{'), `"id":`, i.ID)
	b = appendText(b, `,"node":`, i.NodeID)
	b = appendString(append(b, `,"repo":`...), i.Repo)
	if i.RepoID != 0 {
		b = appendInt(b, `,"repo_id":`, i.RepoID)
	}
	b = appendInt(b, `,"number":`, int64(i.Number))
	b = appendString(append(b, `,"title":`...), i.Title)
	b = appendText(b, `,"body":`, i.Body)
	b = appendString(append(b, `,"state":`...), i.State)
	b = appendText(b, `,"reason":`, i.StateReason)
	b = appendTexts(b, `,"labels":`, i.Labels)
	b = appendTexts(b, `,"assignees":`, i.Assignees)
	if i.Milestone != 0 {
		b = appendInt(b, `,"milestone":`, int64(i.Milestone))
	}
	b = appendText(b, `,"author":`, i.Author)
	b = appendText(b, `,"assoc":`, i.Association)
	b = appendFlag(b, `,"pr":true`, i.PullRequest)
	b = appendFlag(b, `,"locked":true`, i.Locked)
	b = appendTime(b, `,"created":`, i.CreatedAt)
	b = appendTime(b, `,"updated":`, i.UpdatedAt)
	b = appendText(b, `,"editor":`, i.Editor)
	b = appendText(b, `,"delivery":`, i.Delivery)
	b = appendText(b, `,"parent":`, i.Parent)
	b = appendFlag(b, `,"childless":true`, i.Childless)
	return append(b, '}')
}

func appendInt(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

func appendTime(b []byte, name string, t time.Time) []byte {
	b = append(append(b, name...), '"')
	return append(t.AppendFormat(b, time.RFC3339Nano), '"')
}

// appendFlag, appendText and appendTexts leave out what is empty.
func appendFlag(b []byte, said string, v bool) []byte {
	if v {
		return append(b, said...)
	}
	return b
}

func appendText(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return appendString(append(b, name...), s)
}

func appendTexts(b []byte, name string, list []string) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(b, name...)
	for i, s := range list {
		c := byte(',')
		if i == 0 {
			c = '['
		}
		b = appendString(append(b, c), s)
	}
	return append(b, ']')
}

// safe are the bytes that stand for themselves in a JSON text that may be put
// into a page of HTML, which is how encoding/json writes.
var safe = func() (t [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return t
}()

const hexDigits = "0123456789abcdef"

// appendString adds a JSON text.
func appendString(b []byte, s string) []byte {
	b = append(slices.Grow(b, len(s)+2), '"')
	begin := 0
	for i := 0; i < len(s); {
		if safe[s[i]] {
			i++
			continue
		}
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			if r, n = utf8.DecodeRuneInString(s[i:]); (r != utf8.RuneError || n != 1) && r != '\u2028' && r != '\u2029' {
				i += n
				continue
			}
		}
		b = appendEscape(append(b, s[begin:i]...), r)
		i += n
		begin = i
	}
	return append(append(b, s[begin:]...), '"')
}

func appendEscape(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	}
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
