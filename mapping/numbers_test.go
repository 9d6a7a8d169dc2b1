package mapping

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestNumbersThatGitHubSets: these are GitHub's own limits, and no choice of planbridge.
func TestNumbersThatGitHubSets(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fits func(n int) bool
		most int // characters
	}{
		"a title is written as it is": {func(n int) bool { return CutTitle(strings.Repeat("é", n)) == strings.Repeat("é", n) }, 256},
		"a body is taken":             {func(n int) bool { return !TooLong(strings.Repeat("é", n)) }, 65536},
		"a label is valid": {func(n int) bool {
			return LabelScheme{Prefix: "p", InProgress: strings.Repeat("é", n), Estimate: "e{value}", Hours: "h{value}"}.Validate() == nil
		}, 50},
		"a bucket's label has its whole title": {func(n int) bool { return BucketLabel(strings.Repeat("é", n)) == "bucket:"+strings.Repeat("é", n) }, 43},
		"a milestone has its whole title": {func(n int) bool {
			want, _ := ProjectMilestone(Sprint{ID: "s", Title: strings.Repeat("é", n)}, nil, NewKeys([]byte("key")))
			return want.Title == strings.Repeat("é", n)
		}, 255},
	} {
		if !tt.fits(tt.most) || tt.fits(tt.most+1) {
			t.Errorf("%s with %d characters: %t, with one more: %t", name, tt.most, tt.fits(tt.most), tt.fits(tt.most+1))
		}
	}
}

// TestWhenAnExchangeRunsAway has a row for each pace of answers. It shows how many of them in a row
// make an exchange one between two programs.
func TestWhenAnExchangeRunsAway(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after time.Duration
		most  int // answers that are no such exchange; -1: any number
	}{
		"at once":              {0, 11},
		"within a second":      {time.Second, 11},
		"after two seconds":    {2 * time.Second, 11},
		"a moment later":       {2*time.Second + 1, 59},
		"after half a minute":  {30 * time.Second, 59},
		"after a minute":       {time.Minute, 59},
		"later than after one": {time.Minute + 1, -1},
		"after an hour":        {time.Hour, -1},
		"half a second later":  {2500 * time.Millisecond, 59},
	} {
		var x Exchange
		now, answers := noon, 0
		for ; answers < 100 && !x.Runaway(); answers++ {
			x.Answer(GitHub, now)
			now = now.Add(tt.after)
			x.Take(Change{Side: GitHub, From: now, Seen: now})
		}
		if want := tt.most + 1; answers != want && !(tt.most < 0 && answers == 100) {
			t.Errorf("%s: after %d answers it has run away, want %d", name, answers, want)
		}
	}
}

// TestFoldsLastHalfAMinute: with any configuration and clock, no edit waits longer.
func TestFoldsLastHalfAMinute(t *testing.T) {
	t.Parallel()
	for _, first := range []time.Duration{time.Second, 2 * time.Second, 20 * time.Second, 29 * time.Second} {
		var p Pace
		for range 8 {
			p.Begin(GitHub, noon, first)
			p.Hold(GitHub)
		}
		if got := p.Folding(noon, GitHub); got != 30*time.Second {
			t.Errorf("edits that go on are folded for %v at last, where the first is for %v", got, first)
		}
	}
	p := Pace{Folds: map[Side]Fold{GitHub: {Until: noon.Add(24 * time.Hour)}}}
	if got := p.Folding(noon, GitHub); got != 30*time.Second {
		t.Errorf("with a clock that was put back edits are folded for %v", got)
	}
}

// TestWhatALinkRemembers: of what goes on for ever a link keeps so much.
func TestWhatALinkRemembers(t *testing.T) {
	t.Parallel()
	var p Pair
	p.Issue.ID = 1
	for id := range int64(20) {
		p.MoveTo(IssueID{ID: id + 2})
	}
	if len(p.Former) != 8 || p.Former[0] != 13 || p.Former[7] != 20 {
		t.Errorf("of twenty transfers are kept %v", p.Former)
	}
	l := &Link{Pair: Pair{Base: map[Attribute]Base{Summary: {GitHub: "base\n- [ ] a\n"}}}}
	l.SetTaskLines("base\n- [ ] a\n", LineSet{1: true})
	for n := range 10 {
		l.SetTaskLines(fmt.Sprintf("body %d\n- [ ] a\n", n), LineSet{})
	}
	if len(l.Family.Lines) != 4 || !l.TaskLines("base\n- [ ] a\n")[1] {
		t.Errorf("of ten bodies and the base are kept %d, the base's lines are %v", len(l.Family.Lines), l.TaskLines("base\n- [ ] a\n"))
	}
}

// TestHowMuchOfARenamedItemStays has a row for each share of a text that is the same. An item with
// more new text than that is another one.
func TestHowMuchOfARenamedItemStays(t *testing.T) {
	t.Parallel()
	for same, want := range map[int]int{9: 0, 7: 0, 6: 0, 5: -1, 3: -1, 0: -1} {
		was, now := "abcdefghi0"[:same]+strings.Repeat("x", 10-same), "abcdefghi0"[:same]+strings.Repeat("y", 10-same)
		if got := MatchItems([]string{was}, []string{now}); got[0] != want {
			t.Errorf("%s and %s: the item is matched with %d, want %d", was, now, got[0], want)
		}
	}
}
