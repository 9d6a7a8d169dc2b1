package mapping

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2030, 5, 6, 12, 0, 0, 0, time.UTC)

// TestFolding: a plan waits as long as the side that is free first, and goes at once where any
// of its sides may be written.
func TestFolding(t *testing.T) {
	in := func(d time.Duration) Fold { return Fold{Until: noon.Add(d), For: 2 * time.Second} }
	both := []Side{GitHub, Planning}
	for name, tt := range map[string]struct {
		folds map[Side]Fold
		sides []Side
		want  time.Duration
	}{
		"nothing was written":           {nil, both, 0},
		"no side is written":            {map[Side]Fold{GitHub: in(time.Second)}, nil, 0},
		"one side waits":                {map[Side]Fold{GitHub: in(time.Second)}, []Side{GitHub}, time.Second},
		"the other side waits":          {map[Side]Fold{GitHub: in(time.Second)}, []Side{Planning}, 0},
		"one of both may be written":    {map[Side]Fold{GitHub: in(time.Second)}, both, 0},
		"both wait":                     {map[Side]Fold{GitHub: in(3 * time.Second), Planning: in(2 * time.Second)}, both, 2 * time.Second},
		"the moment has come":           {map[Side]Fold{GitHub: in(0)}, []Side{GitHub}, 0},
		"the moment is long over":       {map[Side]Fold{GitHub: in(-time.Hour)}, []Side{GitHub}, 0},
		"one is over, one waits":        {map[Side]Fold{GitHub: in(-time.Second), Planning: in(time.Second)}, both, 0},
		"no wait is longer than a fold": {map[Side]Fold{GitHub: in(time.Hour)}, []Side{GitHub}, MaxFold},
	} {
		t.Run(name, func(t *testing.T) {
			p := Pace{Folds: tt.folds}
			if got := p.Folding(noon, tt.sides...); got != tt.want {
				t.Errorf("it waits %v, want %v", got, tt.want)
			}
		})
	}
}

// TestEditsThatGoOnAreFoldedLonger: the first edit is followed by the configured time. Each
// further one that had to wait doubles it, up to the bound.
func TestEditsThatGoOnAreFoldedLonger(t *testing.T) {
	var p Pace
	now := noon
	for n, want := range []time.Duration{2, 4, 8, 16, 30, 30} {
		p.Begin(GitHub, now, 2*time.Second)
		if got := p.Folding(now, GitHub); got != want*time.Second {
			t.Errorf("write %d is followed by %v, want %v", n, got, want*time.Second)
		}
		if !p.Hold(GitHub) {
			t.Errorf("write %d: an edit waited before", n)
		}
		if p.Hold(GitHub) {
			t.Errorf("write %d: the second edit is the first that waits", n)
		}
		now = now.Add(p.Folding(now, GitHub))
	}
	p.Agreed()
	p.Begin(GitHub, now, 2*time.Second)
	if got := p.Folding(now, GitHub); got != 2*time.Second {
		t.Errorf("after the sides agreed a write is followed by %v", got)
	}
}

// TestProgramsAreNotFoldedLonger: a change that answers a write of the bridge does not make
// folds longer, so that a runaway exchange is found soon.
func TestProgramsAreNotFoldedLonger(t *testing.T) {
	p := Pace{Exchanges: map[Attribute]Exchange{Title: {Score: 1}}}
	for range 3 {
		p.Begin(Planning, noon, time.Second)
		p.Hold(Planning)
	}
	if got := p.Folds[Planning].For; got != time.Second {
		t.Errorf("folds last %v", got)
	}
}

// TestHoldOfBothSides: an edit is the first that waits only where none does on any of its sides.
func TestHoldOfBothSides(t *testing.T) {
	var p Pace
	if !p.Hold(GitHub) {
		t.Error("the first edit is not the first")
	}
	if p.Hold(GitHub, Planning) {
		t.Error("an edit towards both sides is the first, though one waits")
	}
	if !p.Folds[Planning].Held {
		t.Error("the other side's edit does not wait")
	}
	p.Midway = true
	p.Agreed()
	if p.Midway || p.Folds[GitHub].Held || p.Folds[Planning].Held {
		t.Errorf("the sides agree, and there is %+v", p)
	}
}

// TestPutOff: waiting edits of one side wait on both, and never for a shorter time than before.
func TestPutOff(t *testing.T) {
	var idle Pace
	idle.PutOff(noon.Add(time.Minute))
	if len(idle.Folds) != 0 {
		t.Errorf("nothing waits, and there is %+v", idle.Folds)
	}
	p := Pace{Folds: map[Side]Fold{GitHub: {Until: noon.Add(10 * time.Second), Held: true}}}
	p.PutOff(noon.Add(5 * time.Second))
	if got := p.Folding(noon, GitHub, Planning); got != 5*time.Second {
		t.Errorf("both wait %v, want planning's 5s", got)
	}
	if got := p.Folds[GitHub].Until; !got.Equal(noon.Add(10 * time.Second)) {
		t.Errorf("GitHub's wait became shorter: %v", got)
	}
	if !p.Folds[Planning].Held {
		t.Error("planning's edits do not wait")
	}
}

// TestWroteMovesTheFold: the time is counted from the last write, and a side that was never
// begun has none.
func TestWroteMovesTheFold(t *testing.T) {
	var p Pace
	p.Wrote(GitHub, noon)
	if len(p.Folds) != 0 {
		t.Errorf("a write without a plan left %+v", p.Folds)
	}
	p.Begin(GitHub, noon, 3*time.Second)
	p.Wrote(GitHub, noon.Add(time.Minute))
	if got := p.Folding(noon.Add(time.Minute), GitHub); got != 3*time.Second {
		t.Errorf("it waits %v after the last write", got)
	}
}

// TestPaceOfACopyStands: a copy of a record keeps its folds and exchanges, whatever becomes of
// the record it was copied from.
func TestPaceOfACopyStands(t *testing.T) {
	p := Pace{Folds: map[Side]Fold{GitHub: {For: time.Second}}}
	x := Exchange{Wrote: map[Side]time.Time{GitHub: noon}}
	copied, copiedX := p, x
	p.Begin(GitHub, noon, time.Minute)
	p.Hold(GitHub, Planning)
	p.PutOff(noon.Add(time.Hour))
	x.Take(Change{Side: GitHub, Seen: noon})
	x.Answer(Planning, noon)
	if len(copied.Folds) != 1 || copied.Folds[GitHub] != (Fold{For: time.Second}) {
		t.Errorf("the copy has %+v", copied.Folds)
	}
	if len(copiedX.Wrote) != 1 || !copiedX.Wrote[GitHub].Equal(noon) {
		t.Errorf("the copy has %+v", copiedX.Wrote)
	}
}

// TestExchangeTellsProgramsFromPeople has a case for each way in which a change follows a write.
func TestExchangeTellsProgramsFromPeople(t *testing.T) {
	after := func(d time.Duration) Change { return Change{Side: GitHub, From: noon.Add(d), Seen: noon.Add(d)} }
	for name, tt := range map[string]struct {
		wrote   map[Side]time.Time
		changes []Change
		want    int // with a score of 7 before
	}{
		"quickly":                                {map[Side]time.Time{GitHub: noon}, []Change{after(time.Second)}, 7 + quickScore},
		"as quickly as counts":                   {map[Side]time.Time{GitHub: noon}, []Change{after(quickly)}, 7 + quickScore},
		"as a person might":                      {map[Side]time.Time{GitHub: noon}, []Change{after(quickly + 1)}, 7 + slowScore},
		"at the last moment":                     {map[Side]time.Time{GitHub: noon}, []Change{after(answerWithin)}, 7 + slowScore},
		"too late to be an answer":               {map[Side]time.Time{GitHub: noon}, []Change{after(answerWithin + 1)}, 0},
		"of a side nobody wrote":                 {map[Side]time.Time{Planning: noon}, []Change{after(time.Second)}, 0},
		"before any write":                       {nil, []Change{after(time.Second)}, 0},
		"several changes at once":                {map[Side]time.Time{GitHub: noon}, []Change{{Side: GitHub, Seen: noon.Add(time.Second), Several: true}}, 0},
		"no change":                              {map[Side]time.Time{GitHub: noon}, nil, 0},
		"since when is not known":                {map[Side]time.Time{GitHub: noon}, []Change{{Side: GitHub, Seen: noon.Add(time.Second)}}, 7 + quickScore},
		"seen late, and since when is not known": {map[Side]time.Time{GitHub: noon}, []Change{{Side: GitHub, Seen: noon.Add(30 * time.Second)}}, 7 + slowScore},
		"seen late, and made early":              {map[Side]time.Time{GitHub: noon}, []Change{{Side: GitHub, From: noon.Add(time.Second), Seen: noon.Add(30 * time.Second)}}, 7 + quickScore},
		"both sides, one slowly": {map[Side]time.Time{GitHub: noon, Planning: noon}, []Change{
			after(time.Second), {Side: Planning, From: noon.Add(10 * time.Second), Seen: noon.Add(10 * time.Second)},
		}, 7 + slowScore},
		"both sides, one by a person": {map[Side]time.Time{GitHub: noon}, []Change{after(time.Second), {Side: Planning, Seen: noon.Add(time.Second)}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			x := Exchange{Score: 7, Wrote: tt.wrote}
			x.Take(tt.changes...)
			if x.Score != tt.want {
				t.Errorf("the score is %d, want %d", x.Score, tt.want)
			}
			for _, c := range tt.changes {
				if _, left := x.Wrote[c.Side]; left {
					t.Errorf("the write of %s was answered, and is still waited for", c.Side)
				}
			}
		})
	}
}

// TestAnswersOfBothSides: the writes to both sides may be answered, and an answer to one leaves the
// other one open.
func TestAnswersOfBothSides(t *testing.T) {
	var x Exchange
	x.Answer(GitHub, noon)
	x.Answer(Planning, noon.Add(time.Second))
	if len(x.Wrote) != 2 || !x.Wrote[GitHub].Equal(noon) || !x.Wrote[Planning].Equal(noon.Add(time.Second)) {
		t.Fatalf("to be answered are %v", x.Wrote)
	}
	x.Take(Change{Side: GitHub, Seen: noon.Add(time.Second)})
	if _, left := x.Wrote[GitHub]; left || len(x.Wrote) != 1 || x.Score != quickScore {
		t.Errorf("after one answer: %+v", x)
	}
	x.Answer(Planning, noon.Add(time.Minute))
	if !x.Wrote[Planning].Equal(noon.Add(time.Minute)) {
		t.Errorf("the last write is of %v", x.Wrote[Planning])
	}
}

// TestQuietExchangesDoNotHoldAFold: only where the last changes answered writes of ours is a fold
// not made longer.
func TestQuietExchangesDoNotHoldAFold(t *testing.T) {
	for score, want := range map[int]time.Duration{0: 8 * time.Second, 1: 2 * time.Second, quickScore: 2 * time.Second} {
		p := Pace{
			Folds:     map[Side]Fold{GitHub: {For: 4 * time.Second, Held: true}},
			Exchanges: map[Attribute]Exchange{Title: {}, Summary: {Score: score}},
		}
		p.Begin(GitHub, noon, 2*time.Second)
		if got := p.Folds[GitHub]; got.For != want || !got.Until.Equal(noon.Add(want)) || got.Held {
			t.Errorf("with a score of %d edits are folded for %v until %v", score, got.For, got.Until)
		}
	}
}

// TestRunaway: a program that answers at once is found after twelve answers, a slow one after
// sixty. One change of a person begins the count anew.
func TestRunaway(t *testing.T) {
	answers := func(every time.Duration) (n int) {
		var x Exchange
		for now := noon; !x.Runaway() && n < 1000; n++ {
			x.Answer(GitHub, now)
			now = now.Add(every)
			x.Take(Change{Side: GitHub, From: now, Seen: now})
		}
		return n
	}
	for every, want := range map[time.Duration]int{time.Second: 12, 30 * time.Second: 60, 2 * time.Minute: 1000} {
		if got := answers(every); got != want {
			t.Errorf("a program that answers after %v is found after %d answers, want %d", every, got, want)
		}
	}
	x := Exchange{Score: runaway - 1}
	x.Take(Change{Side: Planning, Seen: noon})
	if x.Score != 0 || x.Runaway() {
		t.Errorf("after a person's change: %+v", x)
	}
}

// TestPaceNeverWaitsForEver: with any events of a pair, no plan waits longer than the longest fold,
// and one that waited so long goes.
func TestPaceNeverWaitsForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Pace
		now := noon
		sides := rapid.SampledFrom([][]Side{{GitHub}, {Planning}, {GitHub, Planning}})
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			of := sides.Draw(t, "sides")
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				p.Begin(of[0], now, time.Duration(rapid.IntRange(0, 60).Draw(t, "first"))*time.Second)
			case 1:
				p.Hold(of...)
			case 2:
				p.PutOff(now.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "off")) * time.Second))
			case 3:
				p.Wrote(of[0], now)
			default:
				p.Agreed()
			}
			wait := p.Folding(now, of...)
			if wait < 0 || wait > MaxFold {
				t.Fatalf("a plan for %v waits %v", of, wait)
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "passes")) * time.Second)
		}
		latest := now
		for _, f := range p.Folds {
			if f.Until.After(latest) {
				latest = f.Until
			}
		}
		if wait := p.Folding(latest, GitHub, Planning); wait != 0 {
			t.Fatalf("at the end of all folds a plan waits %v", wait)
		}
	})
}

// TestPutOffHasARowForEachSide: an edit that waits on either side puts both off.
func TestPutOffHasARowForEachSide(t *testing.T) {
	later := noon.Add(time.Minute)
	for name, tt := range map[string]struct {
		held []Side
		want bool
	}{
		"GitHub's edits wait":   {[]Side{GitHub}, true},
		"planning's edits wait": {[]Side{Planning}, true},
		"both wait":             {[]Side{GitHub, Planning}, true},
		"nothing waits":         {nil, false},
	} {
		var p Pace
		p.Hold(tt.held...)
		p.PutOff(later)
		for _, side := range []Side{GitHub, Planning} {
			f := p.Folds[side]
			if f.Held != tt.want || f.Until.Equal(later) != tt.want {
				t.Errorf("%s: towards %s there is %+v", name, side, f)
			}
		}
	}
}

// TestFoldsHaveABound: a wait doubles up to the bound, whatever the first one was.
func TestFoldsHaveABound(t *testing.T) {
	for name, tt := range map[string]struct {
		before, first, want time.Duration
	}{
		"the first":                   {0, 2 * time.Second, 2 * time.Second},
		"doubled":                     {2 * time.Second, 2 * time.Second, 4 * time.Second},
		"up to the bound":             {20 * time.Second, 2 * time.Second, MaxFold},
		"a nanosecond below":          {MaxFold/2 - 1, time.Second, MaxFold - 2},
		"a first one above the bound": {0, time.Minute, time.Minute},
		"a first one that is longer":  {time.Second, 10 * time.Second, 10 * time.Second},
	} {
		p := Pace{Folds: map[Side]Fold{GitHub: {For: tt.before, Held: tt.before > 0}}}
		p.Begin(GitHub, noon, tt.first)
		if f := p.Folds[GitHub]; f.For != tt.want || !f.Until.Equal(noon.Add(tt.want)) || f.Held {
			t.Errorf("%s: %+v, want %v", name, f, tt.want)
		}
	}
}

// TestShortestWaits: a wait of a nanosecond is one, and the shorter of two counts in either order.
func TestShortestWaits(t *testing.T) {
	in := func(d time.Duration) Fold { return Fold{Until: noon.Add(d)} }
	for _, tt := range []struct{ github, planning, want time.Duration }{
		{1, 1, 1}, {1, 2, 1}, {2, 1, 1}, {2, 2, 2}, {0, 1, 0}, {1, 0, 0}, {-1, 1, 0},
	} {
		p := Pace{Folds: map[Side]Fold{GitHub: in(tt.github), Planning: in(tt.planning)}}
		if a, b := p.Folding(noon, GitHub, Planning), p.Folding(noon, Planning, GitHub); a != tt.want || b != tt.want {
			t.Errorf("%d and %d wait %d, in the other order %d", tt.github, tt.planning, a, b)
		}
	}
}
