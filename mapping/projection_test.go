package mapping_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

func TestReviewOf(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"": "", "  ": "", "Approved": "Approved", "approved": "Approved", "APPROVE": "Approved", " approval": "Approved",
		"Partially": "Partially", "partially approved": "Partially", "partial": "Partially", "Rejected": "Rejected", "reject": "Rejected",
		"not approved": "", "pending": "", "unapproved": "", "null": "",
	} {
		if got := mapping.ReviewOf(word); got != want {
			t.Errorf("ReviewOf(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestReviewAction(t *testing.T) {
	t.Parallel()
	const none, label = mapping.VerdictNone, mapping.VerdictLabel
	for _, c := range []struct {
		last, now    string
		open, closed mapping.Verdict
	}{
		{"", "", none, none},
		{"", "Approved", mapping.VerdictCloseCompleted, label},
		{"", "rejected", mapping.VerdictCloseNotPlanned, label},
		{"", "Partially", label, label},
		{"", "pending", none, none},
		{"pending", "waiting", none, none},
		{"Approved", "Approved", none, none},
		{"Approved", "approved ", none, none},
		{"Approved", "Rejected", mapping.VerdictCloseNotPlanned, label},
		{"Approved", "Partially", label, label},
		{"Approved", "", label, label},
		{"Approved", "pending", label, label},
		{"Rejected", "Approved", mapping.VerdictCloseCompleted, label},
		{"Partially", "Approved", mapping.VerdictCloseCompleted, label},
		{"Rejected", "Rejected", none, none},
	} {
		if got := mapping.ReviewAction(c.last, c.now, "open"); got != c.open {
			t.Errorf("%q to %q on an open issue: %q, want %q", c.last, c.now, got, c.open)
		}
		if got := mapping.ReviewAction(c.last, c.now, "closed"); got != c.closed {
			t.Errorf("%q to %q on a closed issue: %q, want %q", c.last, c.now, got, c.closed)
		}
	}
}

// A person reopens an issue that an approval closed; it stays open until the
// review says something else.
func TestReviewActsOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"", "Approved", "approved", "Partially", "Rejected", "?"})
		last, state := words.Draw(t, "last"), rapid.SampledFrom([]string{"open", "closed"})
		now := words.Draw(t, "now")
		mapping.ReviewAction(last, now, state.Draw(t, "state"))
		if again := mapping.ReviewAction(now, now, state.Draw(t, "later")); again != mapping.VerdictNone {
			t.Fatalf("acted again: %q", again)
		}
	})
}

func TestProjectLabels(t *testing.T) {
	t.Parallel()
	status := func(s string) *mapping.Counters { return &mapping.Counters{Status: s} }
	for name, c := range map[string]struct {
		current     []string
		card        mapping.Card
		add, remove []string
	}{
		"nothing":                     {nil, mapping.Card{}, nil, nil},
		"todo":                        {nil, mapping.Card{Counters: status("todo")}, []string{"plan:To Do"}, nil},
		"To Do":                       {nil, mapping.Card{Counters: status("To Do")}, []string{"plan:To Do"}, nil},
		"in-progress":                 {nil, mapping.Card{Counters: status("in-progress")}, []string{"plan:In Progress"}, nil},
		"inProgress":                  {nil, mapping.Card{Counters: status("inProgress")}, []string{"plan:In Progress"}, nil},
		"DONE":                        {nil, mapping.Card{Counters: status("DONE")}, []string{"plan:Done"}, nil},
		"a status not known":          {[]string{"plan:Done"}, mapping.Card{Counters: status("blocked")}, nil, []string{"plan:Done"}},
		"no status":                   {[]string{"plan:Done"}, mapping.Card{Counters: status("")}, nil, []string{"plan:Done"}},
		"no counters":                 {[]string{"plan:To Do"}, mapping.Card{}, nil, []string{"plan:To Do"}},
		"from to do to done":          {[]string{"plan:To Do"}, mapping.Card{Counters: status("done")}, []string{"plan:Done"}, []string{"plan:To Do"}},
		"two statuses":                {[]string{"plan:To Do", "plan:Done"}, mapping.Card{Counters: status("done")}, nil, []string{"plan:To Do"}},
		"in any case":                 {[]string{"PLAN:done"}, mapping.Card{Counters: status("done")}, nil, nil},
		"approved":                    {nil, mapping.Card{Review: "approved"}, []string{"plan:Approved"}, nil},
		"partially":                   {[]string{"plan:Approved"}, mapping.Card{Review: "Partially"}, []string{"plan:Partially"}, []string{"plan:Approved"}},
		"rejected":                    {nil, mapping.Card{Review: "REJECTED"}, []string{"plan:Rejected"}, nil},
		"a review taken back":         {[]string{"plan:Rejected"}, mapping.Card{}, nil, []string{"plan:Rejected"}},
		"a bucket":                    {[]string{"bug"}, mapping.Card{BucketName: "Incoming"}, []string{"bucket:Incoming"}, nil},
		"another bucket":              {[]string{"bucket:Old"}, mapping.Card{BucketName: "New"}, []string{"bucket:New"}, []string{"bucket:Old"}},
		"a bucket not known":          {[]string{"bucket:Old"}, mapping.Card{}, nil, nil},
		"a bucket with a comma":       {nil, mapping.Card{BucketName: "a, b"}, []string{"bucket:a; b~4a479d"}, nil},
		"people's labels":             {[]string{"bug", "In Progress", "in-progress", "Done", "buckets", "planning:Done"}, mapping.Card{}, nil, nil},
		"other labels of the bridge":  {[]string{"plan:ignore", "plan:conflict", "points/3", "hours/2", "plan:anything"}, mapping.Card{BucketName: "A"}, []string{"bucket:A"}, nil},
		"everything, in its order":    {nil, mapping.Card{Counters: status("todo"), Review: "Rejected", BucketName: "A"}, []string{"plan:To Do", "plan:Rejected", "bucket:A"}, nil},
		"one removed by hand is back": {[]string{"plan:To Do"}, mapping.Card{Counters: status("todo"), BucketName: "A"}, []string{"bucket:A"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			add, remove := mapping.ProjectLabels(c.current, &c.card, labelScheme)
			if !slices.Equal(add, c.add) || !slices.Equal(remove, c.remove) {
				t.Errorf("add %q, remove %q; want %q, %q", add, remove, c.add, c.remove)
			}
		})
	}
}

func drawCard(t *rapid.T) *mapping.Card {
	card := &mapping.Card{
		Review:     rapid.SampledFrom([]string{"", "Approved", "partially", "Rejected", "x"}).Draw(t, "review"),
		BucketName: rapid.OneOf(rapid.SampledFrom([]string{"", "Incoming", "a,b"}), mappingtest.Title()).Draw(t, "bucket"),
	}
	if rapid.Bool().Draw(t, "counted") {
		card.Counters = &mapping.Counters{Status: rapid.SampledFrom([]string{"", "todo", "in-progress", "Done", "x"}).Draw(t, "status")}
	}
	return card
}

func TestProjectLabelsLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		current := rapid.SliceOfNDistinct(rapid.OneOf(mappingtest.Label(), rapid.SampledFrom([]string{
			"plan:Approved", "plan:Rejected", "plan:In Progress", "bucket:Old", "bucket:a;b~", "plan:conflict",
		})), 0, 8, strings.ToLower).Draw(t, "current")
		card := drawCard(t)
		add, remove := mapping.ProjectLabels(current, card, labelScheme)
		for _, label := range append(slices.Clone(add), remove...) {
			if !labelScheme.Owned(label) || strings.EqualFold(label, "plan:conflict") {
				t.Fatalf("%q is touched", label)
			}
		}
		for _, label := range add {
			if utf8.RuneCountInString(label) > mapping.MaxLabel || strings.Contains(label, ",") {
				t.Fatalf("GitHub does not take %q", label)
			}
		}
		after := append(slices.DeleteFunc(slices.Clone(current), func(l string) bool { return slices.Contains(remove, l) }), add...)
		if again, off := mapping.ProjectLabels(after, card, labelScheme); again != nil || off != nil {
			t.Fatalf("a second projection of %q adds %q, removes %q", after, again, off)
		}
	})
}

func TestBucketLabel(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("né ", 30)
	for title, want := range map[string]string{
		"":                            "",
		" \t":                         "",
		"Incoming":                    "bucket:Incoming",
		" Two\nwords ":                "bucket:Two words",
		"a/b#50%":                     "bucket:a/b#50%",
		strings.Repeat("é", 43):       "bucket:" + strings.Repeat("é", 43),
		strings.Repeat("é", 44):       "bucket:" + strings.Repeat("é", 36) + "~ab23f5",
		strings.Repeat("é", 42) + ",": "bucket:" + strings.Repeat("é", 36) + "~2a7aeb",
	} {
		if got := mapping.BucketLabel(title); got != want {
			t.Errorf("BucketLabel(%q) = %q, want %q", title, got, want)
		}
	}
	if got := mapping.BucketLabel(long); utf8.RuneCountInString(got) > mapping.MaxLabel || strings.Contains(got, " ~") {
		t.Errorf("BucketLabel = %q", got)
	}
}

func TestBucketLabelsStayApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		title := rapid.OneOf(mappingtest.Title(), rapid.StringMatching(`[a,;~]{1,4}[a-b,;]{0,50}`))
		a, b := title.Draw(t, "a"), title.Draw(t, "b")
		if x, y := mapping.BucketLabel(a), mapping.BucketLabel(b); x == y && mapping.CanonicalTitle(a) != mapping.CanonicalTitle(b) {
			t.Fatalf("%q and %q are both %q", a, b, x)
		}
	})
}

func TestSpec(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"plan:To Do": "d4c5f9", "PLAN:to do": "d4c5f9", "plan:Done": "0e8a16", "plan:Rejected": "d73a4a", "plan:conflict": "b60205",
		"points/3": "bfdadc", "hours/0.5": "bfdadc", "bucket:Incoming": "c5def5", "in-progress": "fbca04", "plan:other": "ededed", "points/x": "ededed",
	} {
		got := labelScheme.Spec(label)
		if got.Name != label || got.Color != want || got.Description == "" {
			t.Errorf("Spec(%q) = %+v, want the colour %s", label, got, want)
		}
	}
	// Every label that a projection adds says where it comes from, in what
	// GitHub takes.
	rapid.Check(t, func(t *rapid.T) {
		add, _ := mapping.ProjectLabels(nil, drawCard(t), labelScheme)
		for _, label := range add {
			spec := labelScheme.Spec(label)
			if spec.Color == "ededed" || !strings.HasPrefix(spec.Description, "Planning: ") || utf8.RuneCountInString(spec.Description) > 100 {
				t.Fatalf("%+v", spec)
			}
		}
	})
}

// TestLabelsAsPeopleReadThem has a row for each label that the bridge makes, with the colour and
// the words that GitHub shows of it.
func TestLabelsAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	for label, want := range map[string][2]string{
		"plan:To Do":       {"d4c5f9", "Planning: no task has been begun"},
		"plan:In Progress": {"fbca04", "Planning: tasks are being worked on"},
		"plan:Done":        {"0e8a16", "Planning: all tasks are done"},
		"plan:Approved":    {"2cbe4e", "Planning: approved in the sprint's review"},
		"plan:Partially":   {"e4a11b", "Planning: partially approved in the sprint's review"},
		"plan:Rejected":    {"d73a4a", "Planning: rejected in the sprint's review"},
		"plan:conflict":    {"b60205", "Planning and GitHub differ: make them the same, or ask an operator"},
		"plan:ignore":      {"ededed", "Kept out of planning"},
		"in-progress":      {"fbca04", "Being worked on"},
		"points/3":         {"bfdadc", "Estimate in story points"},
		"hours/3":          {"bfdadc", "Estimate in hours"},
		"bucket:Incoming":  {"c5def5", "Planning: the card's bucket"},
		"card/7":           {"ededed", "Set by planbridge"},
		"points/many":      {"ededed", "Set by planbridge"},
	} {
		if got := labelScheme.Spec(label); got != (mapping.LabelSpec{Name: label, Color: want[0], Description: want[1]}) {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

// TestProjectionsOfEachValue: each label that shows a value of planning's goes when the card says
// another one, and no label of a person does.
func TestProjectionsOfEachValue(t *testing.T) {
	t.Parallel()
	ours := []string{"plan:To Do", "plan:In Progress", "plan:Done", "plan:Approved", "plan:Partially", "plan:Rejected", "bucket:Later"}
	theirs := []string{"bug", "plan:conflict", "plan:ignore", "in-progress", "points/3", "hours/1", "To Do", "plan:To Do list", "bucket"}
	for status, label := range map[string]string{
		"todo": "plan:To Do", "In Progress": "plan:In Progress", "IN_PROGRESS": "plan:In Progress", "inProgress": "plan:In Progress", "done": "plan:Done",
		"": "", "blocked": "", "done-ish": "",
	} {
		card := &mapping.Card{BucketName: "Incoming", Counters: &mapping.Counters{Status: status}}
		add, remove := mapping.ProjectLabels(slices.Concat(ours, theirs), card, labelScheme)
		if !slices.Equal(add, []string{"bucket:Incoming"}) {
			t.Errorf("%q adds %q", status, add)
		}
		if want := slices.DeleteFunc(slices.Clone(ours), func(l string) bool { return l == label }); !slices.Equal(remove, want) {
			t.Errorf("%q removes %q, want %q", status, remove, want)
		}
	}
	_, remove := mapping.ProjectLabels(ours, &mapping.Card{}, labelScheme)
	if slices.Contains(remove, "bucket:Later") || len(remove) != 6 {
		t.Errorf("of a card whose bucket is not known %q go", remove)
	}
}

// TestLongBucketsHaveShortLabels: a title that GitHub does not take as it is has the digits of its
// hash behind it, and fits.
func TestLongBucketsHaveShortLabels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		title  string
		hashed bool
	}{
		"43 characters":             {strings.Repeat("x", 43), false},
		"44 characters":             {strings.Repeat("x", 44), true},
		"a comma":                   {"a, b", true},
		"a comma and 35 characters": {strings.Repeat("x", 35) + ",", true},
		"a semicolon":               {"a; b", false},
		"white space at the cut":    {strings.Repeat("x", 30) + strings.Repeat(" ", 20) + "y", true},
	} {
		label := mapping.BucketLabel(c.title)
		head, hash, hashed := strings.Cut(label, "~")
		if hashed != c.hashed || hashed && len(hash) != 6 || utf8.RuneCountInString(label) > mapping.MaxLabel {
			t.Errorf("%s: %q", name, label)
		}
		if strings.Contains(label, ",") || strings.TrimSpace(head) != head || !strings.HasPrefix(head, "bucket:") {
			t.Errorf("%s: %q is no label of a bucket", name, label)
		}
	}
}
