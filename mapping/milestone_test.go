package mapping_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

var sprintKeys = mapping.NewKeys([]byte("the key of the milestones' tests"))

func sprintMark(id mapping.ObjectID) string {
	return sprintKeys.AppendComment("", mapping.Marker{Kind: mapping.MarkSprint, Partner: string(id)})
}

func date(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

func TestProjectMilestone(t *testing.T) {
	t.Parallel()
	sprint := mapping.Sprint{ID: "54744060c955ca8169c61ee6", Title: "Sprint 7", Summary: "goal", End: date(2026, 11, 20).Add(17 * time.Hour)}
	own := mapping.Milestone{Number: 3, Title: "Sprint 7", Description: "goal\n\n" + sprintMark(sprint.ID), State: "open", DueOn: date(2026, 11, 20)}
	noon := date(2026, 11, 20).Add(12 * time.Hour)
	with := func(change func(*mapping.Milestone)) mapping.Milestone {
		m := own
		m.DueOn = noon
		change(&m)
		return m
	}
	none := func(*mapping.Milestone) {}
	for name, c := range map[string]struct {
		sprint   func(*mapping.Sprint)
		existing []mapping.Milestone
		want     mapping.Milestone
		write    bool
	}{
		"a new sprint":         {nil, nil, with(func(m *mapping.Milestone) { m.Number = 0 }), true},
		"nothing to do":        {nil, []mapping.Milestone{{Number: 1, Title: "v1"}, own}, with(none), false},
		"renamed":              {func(s *mapping.Sprint) { s.Title = "Lucky 7" }, []mapping.Milestone{own}, with(func(m *mapping.Milestone) { m.Title = "Lucky 7" }), true},
		"moved":                {func(s *mapping.Sprint) { s.End = date(2026, 12, 1) }, []mapping.Milestone{own}, with(func(m *mapping.Milestone) { m.DueOn = date(2026, 12, 1).Add(12 * time.Hour) }), true},
		"without an end":       {func(s *mapping.Sprint) { s.End = time.Time{} }, []mapping.Milestone{own}, with(func(m *mapping.Milestone) { m.DueOn = time.Time{} }), true},
		"another goal":         {func(s *mapping.Sprint) { s.Summary = "other" }, []mapping.Milestone{own}, with(func(m *mapping.Milestone) { m.Description = "other\n\n" + sprintMark(sprint.ID) }), true},
		"no goal":              {func(s *mapping.Sprint) { s.Summary = "" }, []mapping.Milestone{own}, with(func(m *mapping.Milestone) { m.Description = sprintMark(sprint.ID) }), true},
		"past":                 {func(s *mapping.Sprint) { s.Past = true }, []mapping.Milestone{own}, with(func(m *mapping.Milestone) { m.State = "closed" }), true},
		"past and closed":      {func(s *mapping.Sprint) { s.Past = true }, []mapping.Milestone{with(func(m *mapping.Milestone) { m.State = "closed" })}, with(func(m *mapping.Milestone) { m.State = "closed" }), false},
		"closed by hand":       {nil, []mapping.Milestone{with(func(m *mapping.Milestone) { m.State = "closed" })}, with(none), true},
		"its title by hand":    {nil, []mapping.Milestone{with(func(m *mapping.Milestone) { m.Title = "mine" })}, with(none), true},
		"words by hand":        {nil, []mapping.Milestone{with(func(m *mapping.Milestone) { m.Description = "mine\n\n" + m.Description })}, with(none), true},
		"CRLF is no change":    {nil, []mapping.Milestone{with(func(m *mapping.Milestone) { m.Description = strings.ReplaceAll(m.Description, "\n", "\r\n") })}, with(none), false},
		"a person's, one name": {nil, []mapping.Milestone{{Number: 1, Title: "sprint 7"}}, with(func(m *mapping.Milestone) { m.Number, m.Title = 0, "Sprint 7 (c61ee6)" }), true},
		"another's, one name": {
			nil,
			[]mapping.Milestone{{Number: 1, Title: "Sprint 7", Description: sprintMark("other")}, with(func(m *mapping.Milestone) { m.Title = "Sprint 7 (c61ee6)" })},
			with(func(m *mapping.Milestone) { m.Title = "Sprint 7 (c61ee6)" }), false,
		},
		"the name is free again": {nil, []mapping.Milestone{with(func(m *mapping.Milestone) { m.Title = "Sprint 7 (c61ee6)" })}, with(func(m *mapping.Milestone) { m.Title = "Sprint 7 (c61ee6)" }), false},
		"a marker taken out":     {nil, []mapping.Milestone{with(func(m *mapping.Milestone) { m.Description = "goal" })}, with(func(m *mapping.Milestone) { m.Number, m.Title = 0, "Sprint 7 (c61ee6)" }), true},
		"a copy":                 {nil, []mapping.Milestone{with(func(m *mapping.Milestone) { m.Number, m.Title = 9, "copy" }), own}, with(none), false},
		"without a title":        {func(s *mapping.Sprint) { s.Title = " " }, []mapping.Milestone{own}, with(func(m *mapping.Milestone) { m.Title = "Sprint" }), true},
		"people are not called": {func(s *mapping.Sprint) { s.Summary = "ask @bob" }, []mapping.Milestone{own}, with(func(m *mapping.Milestone) {
			m.Description = mapping.Defuse("ask @bob") + "\n\n" + sprintMark(sprint.ID)
		}), true},
		"a title of several lines":  {func(s *mapping.Sprint) { s.Title = "Sprint\n7" }, []mapping.Milestone{own}, with(none), false},
		"a title of 255 characters": {func(s *mapping.Sprint) { s.Title = strings.Repeat("é", 255) }, []mapping.Milestone{own}, with(func(m *mapping.Milestone) { m.Title = strings.Repeat("é", 255) }), true},
		"a title cut at a space":    {func(s *mapping.Sprint) { s.Title = strings.Repeat("é", 253) + " tail" }, []mapping.Milestone{own}, with(func(m *mapping.Milestone) { m.Title = strings.Repeat("é", 253) + "…" }), true},
		"a title of 256":            {func(s *mapping.Sprint) { s.Title = strings.Repeat("é", 256) }, []mapping.Milestone{own}, with(func(m *mapping.Milestone) { m.Title = strings.Repeat("é", 254) + "…" }), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sprint
			if c.sprint != nil {
				c.sprint(&s)
			}
			if got, write := mapping.ProjectMilestone(s, c.existing, sprintKeys); got != c.want || write != c.write {
				t.Errorf("ProjectMilestone = %+v, %v\nwant %+v, %v", got, write, c.want, c.write)
			}
		})
	}
}

func TestFindMilestone(t *testing.T) {
	t.Parallel()
	forged := mapping.NewKeys([]byte("not ours")).AppendComment("", mapping.Marker{Kind: mapping.MarkSprint, Partner: "s"})
	card := sprintKeys.AppendComment("", mapping.Marker{Kind: mapping.MarkCard, Partner: "s"})
	existing := []mapping.Milestone{
		{Number: 1, Title: "s"},
		{Number: 2, Description: forged},
		{Number: 3, Description: card},
		{Number: 4, Description: sprintMark("t")},
		{Number: 6, Description: sprintMark("s")},
		{Number: 5, Description: "words " + sprintMark("s")},
	}
	if m, ok := mapping.FindMilestone(existing, "s", sprintKeys); !ok || m.Number != 5 {
		t.Errorf("found %+v, %v", m, ok)
	}
	slices.Reverse(existing)
	if m, ok := mapping.FindMilestone(existing, "s", sprintKeys); !ok || m.Number != 5 {
		t.Errorf("in another order: found %+v, %v", m, ok)
	}
	if m, ok := mapping.FindMilestone(existing, "u", sprintKeys); ok {
		t.Errorf("found %+v of a sprint without one", m)
	}
	old := mapping.NewKeys([]byte("the new key"), []byte("the key of the milestones' tests"))
	if m, ok := mapping.FindMilestone(existing, "t", old); !ok || m.Number != 4 {
		t.Errorf("after a new key: found %+v, %v", m, ok)
	}
}

func TestDueOn(t *testing.T) {
	t.Parallel()
	east, west := time.FixedZone("east", 14*3600), time.FixedZone("west", -11*3600)
	for _, end := range []time.Time{
		date(2026, 3, 1), date(2026, 3, 1).Add(24*time.Hour - 1), time.Date(2026, 3, 1, 0, 30, 0, 0, east), time.Date(2026, 3, 1, 23, 30, 0, 0, west),
	} {
		if got, want := mapping.DueOn(end), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC); !got.Equal(want) {
			t.Errorf("DueOn(%v) = %v", end, got)
		}
	}
	if !mapping.DueOn(time.Time{}).IsZero() {
		t.Error("no date is one")
	}
}

// TestProjectMilestoneLaws projects sprints of any titles, one after the other, onto a repository
// with milestones of its own. Each gets its own, the others stay unchanged, and a second round
// writes nothing.
func TestProjectMilestoneLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		title := rapid.OneOf(rapid.SampledFrom([]string{"Sprint 1", "sprint 1", "Sprint 2", ""}), mappingtest.Title())
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[0-9a-f]{24}`), 1, 4, func(id string) string { return id[18:] }).Draw(t, "ids")
		person := mapping.Milestone{Number: 1, Title: mapping.CanonicalTitle(title.Draw(t, "person's")), State: "open"}
		existing := []mapping.Milestone{person}
		var sprints []mapping.Sprint
		for _, id := range ids {
			sprints = append(sprints, mapping.Sprint{
				ID: mapping.ObjectID(id), Title: title.Draw(t, "title"), Summary: mappingtest.Markdown().Draw(t, "summary"),
				End: date(2026, 11, rapid.IntRange(1, 30).Draw(t, "day")), Past: rapid.Bool().Draw(t, "past"),
			})
		}
		project := func() (writes int) {
			for _, s := range sprints {
				want, write := mapping.ProjectMilestone(s, existing, sprintKeys)
				if !write {
					continue
				}
				writes++
				if n := utf8.RuneCountInString(want.Title); n == 0 || n > mapping.MaxMilestone {
					t.Fatalf("a title of %d characters", n)
				}
				if taken := slices.ContainsFunc(existing, func(m mapping.Milestone) bool {
					return m.Number != want.Number && strings.EqualFold(m.Title, want.Title)
				}); taken {
					t.Fatalf("the title %q is taken", want.Title)
				}
				if want.Number == 0 {
					want.Number = len(existing) + 1
					existing = append(existing, want)
				} else {
					existing[want.Number-1] = want
				}
			}
			return writes
		}
		if n := project(); n != len(sprints) || existing[0] != person {
			t.Fatalf("%d writes for %d sprints; the person's is %+v", n, len(sprints), existing[0])
		}
		for i := range sprints {
			sprints[i].Title = title.Draw(t, "renamed")
		}
		project()
		if n := project(); n != 0 || len(existing) != len(sprints)+1 {
			t.Fatalf("a second projection writes %d; %d milestones", n, len(existing))
		}
	})
}

// TestLongTitlesOfMilestones: a title with an id behind it has at most 255 characters, too. An id
// that is shorter than six characters is included whole.
func TestLongTitlesOfMilestones(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id    mapping.ObjectID
		title string
		want  string
	}{
		"a title that just fits":  {"54744060c955ca8169c61ee6", strings.Repeat("é", 246), strings.Repeat("é", 246) + " (c61ee6)"},
		"one character more":      {"54744060c955ca8169c61ee6", strings.Repeat("é", 247), strings.Repeat("é", 245) + "… (c61ee6)"},
		"as long as GitHub takes": {"54744060c955ca8169c61ee6", strings.Repeat("é", 255), strings.Repeat("é", 245) + "… (c61ee6)"},
		"a short id":              {"s1", "Sprint", "Sprint (s1)"},
		"an id of six characters": {"123456", "Sprint", "Sprint (123456)"},
		"an id of seven":          {"1234567", "Sprint", "Sprint (234567)"},
		"an id beyond ASCII":      {"ééééééé", "Sprint", "Sprint (éééééé)"},
		"a title without words":   {"s1", " \t", "Sprint (s1)"},
		"cut between two words":   {"54744060c955ca8169c61ee6", strings.Repeat("é", 244) + " " + strings.Repeat("é", 10), strings.Repeat("é", 244) + "… (c61ee6)"},
		"an id of several lines":  {"a\nb\x00c", "Sprint", "Sprint (a bc)"},
	} {
		taken := mapping.CanonicalTitle(c.title)
		if taken == "" {
			taken = "Sprint"
		}
		got, write := mapping.ProjectMilestone(mapping.Sprint{ID: c.id, Title: c.title}, []mapping.Milestone{{Number: 1, Title: taken}}, sprintKeys)
		if got.Title != c.want || !write || utf8.RuneCountInString(got.Title) > mapping.MaxMilestone {
			t.Errorf("%s: %q, want %q", name, got.Title, c.want)
		}
	}
}
