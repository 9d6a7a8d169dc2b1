package mapping

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestEditedOfACard: a poll's times of each attribute beat those of the card.
func TestEditedOfACard(t *testing.T) {
	whole, title := Interval{noon, noon.Add(time.Second)}, Interval{noon.Add(time.Minute), noon.Add(2 * time.Minute)}
	old := Card{Polled: whole}
	if got := old.Edited(Title); got != whole {
		t.Errorf("of a card of which the version alone is known: %v", got)
	}
	c := Card{Polled: whole, Times: map[Attribute]Interval{Title: title}}
	if got := c.Edited(Title); got != title {
		t.Errorf("the title's: %v", got)
	}
	if got := c.Edited(Summary); got != (Interval{}) {
		t.Errorf("of an attribute that is not known: %v", got)
	}
}

// TestVersionsOfACard stand in the order of the attributes.
func TestVersionsOfACard(t *testing.T) {
	c := Card{Title: Versioned{Version: 1}, Summary: Versioned{Version: 2}, Estimate: Versioned{Version: 3}, CountersVersion: 4}
	for i, want := range map[Attribute]int64{Title: 1, Summary: 2, Estimate: 3, State: 4} {
		at := 0
		for n, a := range Attributes {
			if a == i {
				at = n
			}
		}
		if got := c.Versions()[at]; got != want {
			t.Errorf("%s: %d, want %d", i, got, want)
		}
	}
}

func polledCard() *Card {
	seen := Interval{noon, noon.Add(2 * time.Second)}
	return &Card{
		ID: "card", Version: 9, Title: Versioned{"title", 1}, Summary: Versioned{"text", 2}, Estimate: Versioned{"3", 3}, CountersVersion: 4,
		Bucket: "bucket", BucketName: "Incoming", StateID: "state", Iteration: "sprint", Users: []string{"alice"}, Polled: seen,
		Times: map[Attribute]Interval{Title: seen, State: seen},
	}
}

// TestCompleteTakesWhatOnlyPollsTell has a case for each thing that a read does not tell.
func TestCompleteTakesWhatOnlyPollsTell(t *testing.T) {
	for name, tt := range map[string]struct {
		read  func(*Card)
		check func(*Card) bool
	}{
		"no bucket":               {func(c *Card) { c.Bucket = "" }, func(c *Card) bool { return c.Bucket == "bucket" && c.BucketName == "Incoming" && c.StateID == "state" }},
		"the same bucket":         {func(c *Card) { c.Bucket = "bucket" }, func(c *Card) bool { return c.BucketName == "Incoming" }},
		"its other id":            {func(c *Card) { c.Bucket = "state" }, func(c *Card) bool { return c.Bucket == "bucket" && c.BucketName == "Incoming" }},
		"another bucket":          {func(c *Card) { c.Bucket = "bugs" }, func(c *Card) bool { return c.Bucket == "bugs" && c.BucketName == "" && c.StateID == "" }},
		"the same sprint":         {func(*Card) {}, func(c *Card) bool { return len(c.Users) == 1 }},
		"another sprint":          {func(c *Card) { c.Iteration = "next" }, func(c *Card) bool { return c.Users == nil }},
		"nobody works on it":      {func(c *Card) { c.Users = []string{} }, func(c *Card) bool { return c.Users != nil && len(c.Users) == 0 }},
		"the same version":        {func(*Card) {}, func(c *Card) bool { return c.Polled != (Interval{}) }},
		"a later version":         {func(c *Card) { c.Version++ }, func(c *Card) bool { return c.Polled == (Interval{}) }},
		"the same title":          {func(*Card) {}, func(c *Card) bool { return c.Edited(Title) != (Interval{}) }},
		"a later title":           {func(c *Card) { c.Title.Version++ }, func(c *Card) bool { return c.Edited(Title) == (Interval{}) && c.Edited(State) != (Interval{}) }},
		"a text of unknown times": {func(*Card) {}, func(c *Card) bool { _, known := c.Times[Summary]; return !known }},
	} {
		t.Run(name, func(t *testing.T) {
			polled := polledCard()
			read := *polled
			read.Bucket, read.BucketName, read.StateID, read.Users, read.Polled, read.Times = "", "", "", nil, Interval{}, nil
			tt.read(&read)
			read.Complete(polled)
			if !tt.check(&read) {
				t.Errorf("the read became %+v", read)
			}
		})
	}
}

// TestCompleteTwice: a complete card is not changed by the same poll once more, and no value of the
// card is touched.
func TestCompleteTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		polled := polledCard()
		read := *polled
		read.Bucket = ObjectID(rapid.SampledFrom([]string{"", "bucket", "state", "bugs"}).Draw(t, "bucket"))
		read.Version += int64(rapid.IntRange(0, 1).Draw(t, "version"))
		read.Title.Version += int64(rapid.IntRange(0, 1).Draw(t, "title"))
		read.Title.Value = rapid.String().Draw(t, "value")
		read.Users, read.Polled, read.Times = nil, Interval{}, nil
		was := read
		read.Complete(polled)
		once := DigestCard(&read)
		if read.Title != was.Title || read.Summary != was.Summary || read.Version != was.Version {
			t.Fatalf("%+v became %+v", was, read)
		}
		times := len(read.Times)
		read.Complete(polled)
		if DigestCard(&read) != once || len(read.Times) != times {
			t.Fatalf("completed twice it is %+v", read)
		}
	})
}

// TestDigestCardLeavesOutWhenItWasSeen: one card that two polls show alike is one snapshot.
func TestDigestCardLeavesOutWhenItWasSeen(t *testing.T) {
	a, b := polledCard(), polledCard()
	b.Polled, b.Times = Interval{}, nil
	if DigestCard(a) != DigestCard(b) {
		t.Error("when it was seen makes another snapshot")
	}
	if a.Times == nil {
		t.Error("the digest took the times away")
	}
	for name, change := range map[string]func(*Card){
		"title":    func(c *Card) { c.Title.Value = "other" },
		"version":  func(c *Card) { c.Version++ },
		"bucket":   func(c *Card) { c.Bucket = "bugs" },
		"users":    func(c *Card) { c.Users = nil },
		"review":   func(c *Card) { c.Review = "Approved" },
		"counters": func(c *Card) { c.Counters = &Counters{Total: 1} },
	} {
		c := polledCard()
		if change(c); DigestCard(c) == DigestCard(a) {
			t.Errorf("another %s makes no other snapshot", name)
		}
	}
}

// TestMoveTo: an issue that was transferred takes along the writes that are on their way to it.
func TestMoveTo(t *testing.T) {
	l := ofTheFamily()
	l.Issue.Digest, l.Issue.Number = "seen", 12
	l.Pending = []Pending{{ID: "own", Item: IssueRef(1)}, {ID: "card's", Item: CardRef("card")}}
	l.InFlight = []Pending{{ID: "late", Item: IssueRef(1)}}
	pending := l.Pending
	l.MoveTo(IssueID{ID: 5, Repo: "acme/api", Number: 3})
	if l.Issue.ID != 5 || l.Issue.Digest != "" || l.Issue.Number != 3 {
		t.Errorf("the issue is %+v", l.Issue)
	}
	if l.Pending[0].Item != IssueRef(5) || l.Pending[1].Item != CardRef("card") || l.InFlight[0].Item != IssueRef(5) {
		t.Errorf("writes %+v, late %+v", l.Pending, l.InFlight)
	}
	if pending[0].Item != IssueRef(1) {
		t.Error("a copy's writes were changed")
	}
	for issue, want := range map[int64]bool{1: true, 10: true, 20: true, 5: false, 2: false} {
		if got := l.Was(issue); got != want {
			t.Errorf("it was %d: %v", issue, got)
		}
	}
}

// TestFormerIssuesHaveABound: the oldest is forgotten, and one that comes back is former no more.
func TestFormerIssuesHaveABound(t *testing.T) {
	l := &Link{Pair: Pair{Issue: IssueID{ID: 1}}}
	for id := int64(2); id <= 20; id++ {
		l.MoveTo(IssueID{ID: id})
	}
	if len(l.Former) != maxFormer || !l.Was(19) || l.Was(1) {
		t.Errorf("former are %v", l.Former)
	}
	l.MoveTo(IssueID{ID: 19})
	if l.Was(19) || !l.Was(20) {
		t.Errorf("after it came back: %v", l.Former)
	}
}

// TestRenamed: an issue's page and name follow its repository, and nothing else that has the name.
func TestRenamed(t *testing.T) {
	for name, tt := range map[string]struct{ page, want string }{
		"on GitHub":              {"https://github.com/acme/web/issues/12", "https://github.com/acme/site/issues/12"},
		"on a server under it":   {"https://ghe.example.com/acme/web/issues/12", "https://ghe.example.com/acme/site/issues/12"},
		"named like a path":      {"https://git.example.com/acme/web/acme/web/issues/12", "https://git.example.com/acme/web/acme/site/issues/12"},
		"of another repository":  {"https://github.com/acme/webs/issues/12", "https://github.com/acme/webs/issues/12"},
		"not known":              {"", ""},
		"renamed by the service": {"https://github.com/acme/site/issues/12", "https://github.com/acme/site/issues/12"},
	} {
		i := Issue{Repo: "acme/web", Number: 12, Page: tt.page, Title: "acme/web is slow", Body: "see acme/web/issues/3"}
		i.Renamed("acme/site")
		if i.Page != tt.want || i.Name() != "acme/site#12" || i.Title != "acme/web is slow" || i.Body != "see acme/web/issues/3" {
			t.Errorf("%s: %q, %s, %q", name, i.Page, i.Name(), i.Body)
		}
	}
}

// TestTaskAsACard: a task shows what a card shows, and its state.
func TestTaskAsACard(t *testing.T) {
	task := Task{ID: "task", CID: 7, Version: 9, Owner: "card", Title: Versioned{"t", 1}, Summary: Versioned{"s", 2}, Estimate: Versioned{"3", 3}, State: Versioned{StateDone, 4}}
	card := task.AsCard()
	if card.ID != "task" || card.CID != 7 || card.Version != 9 || card.State != task.State {
		t.Errorf("the card is %+v", card)
	}
	for _, a := range []Attribute{Title, Summary, Estimate} {
		if got, want := card.Values()[a], task.Values()[a]; got != want {
			t.Errorf("%s: %v, want %v", a, got, want)
		}
	}
	if name := NameTask(&task); name != (CardID{ID: "task", CID: 7}) {
		t.Errorf("it is named %+v", name)
	}
}

// TestDigestTaskIsOfEveryField: a task that changed in anything is another snapshot.
func TestDigestTaskIsOfEveryField(t *testing.T) {
	task := func() *Task {
		return &Task{ID: "task", CID: 7, Version: 9, Owner: "card", Title: Versioned{"t", 1}, Summary: Versioned{"s", 2}, Estimate: Versioned{"3", 3}, State: Versioned{StateTodo, 4}}
	}
	digest := DigestTask(task())
	if DigestTask(task()) != digest {
		t.Error("the same task has two digests")
	}
	for name, change := range map[string]func(*Task){
		"id":       func(t *Task) { t.ID = "other" },
		"number":   func(t *Task) { t.CID++ },
		"version":  func(t *Task) { t.Version++ },
		"card":     func(t *Task) { t.Owner = "" },
		"title":    func(t *Task) { t.Title.Value = "u" },
		"summary":  func(t *Task) { t.Summary.Version++ },
		"estimate": func(t *Task) { t.Estimate.Value = "" },
		"state":    func(t *Task) { t.State.Value = StateDone },
	} {
		other := task()
		if change(other); DigestTask(other) == digest {
			t.Errorf("another %s makes no other snapshot", name)
		}
	}
}

// TestMoveNamesTheIssue: values that do not change again identify an issue's successor.
func TestMoveNamesTheIssue(t *testing.T) {
	issue := &Issue{ID: 8, NodeID: "I_8", Repo: "acme/api", RepoID: 4, Number: 3, Author: "octocat", CreatedAt: noon, UpdatedAt: noon.Add(time.Hour), Title: "t"}
	want := IssueID{ID: 8, NodeID: "I_8", Repo: "acme/api", RepoID: 4, Number: 3, Author: "octocat", Born: noon}
	if move := NewMove(7, issue); move.From != 7 || move.To != want {
		t.Errorf("the move is %+v", move)
	}
	seen := want
	seen.UpdatedAt, seen.Digest, seen.Agreed = noon, "digest", noon
	if seen.Bare() != want {
		t.Errorf("without what was seen of it: %+v", seen.Bare())
	}
	if issue.Name() != "acme/api#3" {
		t.Errorf("people call it %s", issue.Name())
	}
}
