package webhook_test

import (
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

func marked(id int64, link mapping.LinkID, author string, created time.Time) mapping.Issue {
	return *issue(id, func(i *mapping.Issue) {
		i.Author, i.CreatedAt = author, created
		i.Body = keys.AppendComment("A body", mapping.Marker{Kind: mapping.MarkIssue, Link: link, Nonce: "00000000000000bb", Partner: "card-" + string(link)})
	})
}

// TestUnknownAccount: until the bridge's account is known, a marker keeps an issue from entering.
// It does not make a link that the store has lost, as the first editor of a copy would get it.
func TestUnknownAccount(t *testing.T) {
	w := newWorld(t, func(o *options) { o.Authorship = func(string) mapping.Authorship { return mapping.Unknown } })
	i := marked(1, "00000000000000aa", "somebody", began)
	w.deliver("edited", &i, "ignored")
	w.deliver("opened", issue(2), "stored")
	if l := w.onlyLink(web); l.Issue.Number != 2 || l.State != mapping.Entering {
		t.Errorf("link %+v", l)
	}
}

// TestAdopt: of the issues with one marker the oldest is the bridge's.
func TestAdopt(t *testing.T) {
	w := newWorld(t, func(o *options) { o.Authorship = func(string) mapping.Authorship { return mapping.Unknown } })
	later := began.Add(time.Hour)
	copied := marked(1, "00000000000000aa", "mallory", later)
	original := marked(5, "00000000000000aa", bot, began)
	if err := w.intake.Adopt(t.Context(), []mapping.Issue{copied, original}); err != nil {
		t.Fatal(err)
	}
	if l := w.onlyLink(web); l.Issue.Number != 5 || l.State != mapping.Linked || l.Card.ID != "card-00000000000000aa" {
		t.Errorf("link %+v", l)
	}
	if !strings.Contains(w.log.String(), "issue=1") {
		t.Errorf("the copy is not reported: %s", w.log)
	}
	if !w.intake.Marked(&copied) || w.intake.Marked(issue(3)) {
		t.Error("what is marked is not known")
	}
}
