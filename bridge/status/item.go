package status

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"planbridge/mapping"
)

// Item is an item by one of the names that all commands take.
type Item struct {
	Name       string // owner/name#number of an issue, also for its address; else the words
	Repository string // of an issue; "": it is none
	Number     int    // of the issue
	CID        int64  // the number of an issue, a card or a task, given as 7 or #7; 0: it is none
}

// ParseItem reads the name of an issue, a card, a task or a link. Its error is an [ErrName].
func ParseItem(words string) (Item, error) {
	name := issueName(strings.TrimSpace(words))
	item := Item{Name: name}
	if cid, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64); err == nil && cid > 0 && len(name) < 16 {
		item.CID = cid
		return item, nil
	}
	repo, number, isIssue := strings.Cut(name, "#")
	var err error
	if isIssue {
		item.Repository = repo
		item.Number, err = strconv.Atoi(number)
	}
	if name == "" || isIssue && (err != nil || !strings.Contains(repo, "/")) {
		return item, fmt.Errorf("find %q: %w", words, ErrName)
	}
	return item, nil
}

// Numbers reports whether an item's number is that of a pair's issue or of its card or task.
func (i Item) Numbers(p *mapping.Pair) bool {
	return i.CID != 0 && (int64(p.Issue.Number) == i.CID || p.Card.CID == i.CID)
}

// Called is a unique name of a link's pair that the item [Item.Numbers].
func (i Item) Called(l *mapping.Link, p *mapping.Pair) string {
	if int64(p.Issue.Number) == i.CID {
		return p.Where()
	}
	id := string(p.Card.ID)
	switch {
	case p.Issue.Number != 0:
		return id + " (the partner of " + p.Where() + ")"
	case l.Where() != id:
		return id + " (a task of " + l.Where() + ")"
	}
	return id
}

// mostNames bounds the listed names of an ambiguous one.
const mostNames = 10

// AmbiguousError is an [ErrName]: several items have the name. Each has other names, too.
type AmbiguousError struct {
	Name  string
	Names []string
}

func (e *AmbiguousError) Error() string {
	names, more := e.Names, ""
	if n := len(names) - mostNames; n > 0 {
		names, more = names[:mostNames], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s is ambiguous, name one of these: %s%s", e.Name, strings.Join(names, ", "), more)
}

// Is implements [errors.Is].
func (*AmbiguousError) Is(target error) bool { return target == ErrName }

// Ambiguous makes an [AmbiguousError].
func Ambiguous(name string, names ...string) error { return &AmbiguousError{name, names} }

// namesOf are the names that an [AmbiguousError] lists.
func namesOf(err error) []string {
	if many := (*AmbiguousError)(nil); errors.As(err, &many) {
		return many.Names
	}
	return nil
}

// issueName is acme/web#12 of https://github.com/acme/web/issues/12, or of the address of a
// pull request; other words stay.
func issueName(words string) string {
	u, err := url.Parse(words)
	if err != nil || u.Host == "" {
		return words
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	const owner, name, kind, number, all = 0, 1, 2, 3, 4
	if len(parts) != all || parts[kind] != "issues" && parts[kind] != "pull" {
		return words
	}
	return parts[owner] + "/" + parts[name] + "#" + parts[number]
}
