package mapping

import (
	"maps"
	"time"
)

// MaxFold bounds how long edits that go on are folded.
const MaxFold = 30 * time.Second

// Pace records how often a link's items are written.
type Pace struct {
	// Minute and Writes count the rounds of projections of one minute.
	Minute time.Time `json:"minute,omitzero"`
	Writes int       `json:"writes,omitempty"`
	// Folds has, per side that was written, how edits towards it are folded.
	Folds map[Side]Fold `json:"folds,omitempty"`
	// Midway: a plan's writes have begun, and the sides do not agree yet.
	Midway bool `json:"midway,omitempty"`
	// Exchanges detects, per attribute, two programs that answer each other.
	Exchanges map[Attribute]Exchange `json:"exchanges,omitempty"`
}

// Fold is how edits towards one side are folded.
type Fold struct {
	Until time.Time     `json:"until"` // edits seen before it are written then, together
	For   time.Duration `json:"for"`   // how long Until is after the last write
	Held  bool          `json:"held,omitempty"`
}

// Folding is how long a plan that writes to some sides waits for further edits; 0: it runs at once.
// The whole plan runs as soon as one of its sides may be written.
func (p *Pace) Folding(now time.Time, sides ...Side) time.Duration {
	var wait time.Duration
	for _, side := range sides {
		left := min(p.Folds[side].Until.Sub(now), MaxFold)
		if left <= 0 {
			return 0
		}
		if wait == 0 || left < wait {
			wait = left
		}
	}
	return wait
}

// Hold records that edits towards some sides wait, and reports whether none did before.
func (p *Pace) Hold(sides ...Side) (first bool) {
	first = true
	for _, side := range sides {
		f := p.Folds[side]
		first = first && !f.Held
		f.Held = true
		p.setFold(side, f)
	}
	return first
}

// PutOff makes the waiting edits of both sides wait until a time at least. It changes nothing
// where no edit waits.
func (p *Pace) PutOff(until time.Time) {
	if !p.Folds[GitHub].Held && !p.Folds[Planning].Held {
		return
	}
	for _, side := range []Side{GitHub, Planning} {
		f := p.Folds[side]
		f.Held = true
		if until.After(f.Until) {
			f.Until = until
		}
		p.setFold(side, f)
	}
}

// Begin records that a side is about to be written. first is how long the next edit is folded. It
// doubles, up to MaxFold, while edits that no write of ours led to had to wait. Answers of a
// program do not count, so that two programs that answer each other are detected soon.
func (p *Pace) Begin(side Side, now time.Time, first time.Duration) {
	f := p.Folds[side]
	if f.Held && !p.answering() {
		first = max(first, min(2*f.For, MaxFold))
	}
	p.setFold(side, Fold{Until: now.Add(first), For: first})
}

// answering reports whether the last changes answered writes of ours.
func (p *Pace) answering() bool {
	for _, x := range p.Exchanges {
		if x.Score > 0 {
			return true
		}
	}
	return false
}

// Agreed records that the sides agree: no plan goes on, and no edit waits.
func (p *Pace) Agreed() {
	p.Midway = false
	for side, f := range p.Folds {
		if f.Held {
			f.Held = false
			p.setFold(side, f)
		}
	}
}

// Wrote records that a side was just written.
func (p *Pace) Wrote(side Side, now time.Time) {
	if f, ok := p.Folds[side]; ok {
		f.Until = now.Add(f.For)
		p.setFold(side, f)
	}
}

// setFold replaces the map: copies of a link may share it.
func (p *Pace) setFold(side Side, f Fold) {
	folds := maps.Clone(p.Folds)
	if folds == nil {
		folds = map[Side]Fold{}
	}
	folds[side] = f
	p.Folds = folds
}

const (
	// answerWithin is how soon a program answers a write of ours, and quickly how soon it answers
	// where no person would.
	answerWithin = time.Minute
	quickly      = 2 * time.Second
	// runaway is the score of an exchange between programs: 12 quick answers in a row, or 60 slower
	// ones.
	runaway, quickScore, slowScore = 60, 5, 1
)

// Exchange tells two programs that answer each other from people. A program
// changes an attribute once after each write of ours. People change it on their
// own: several times between two writes, or long after one.
type Exchange struct {
	// Score grows with each change in a row that answers a write of ours.
	Score int `json:"score,omitempty"`
	// Wrote is when each side was last written and has not been answered since.
	Wrote map[Side]time.Time `json:"wrote,omitempty"`
}

// Change has the known facts of a change of an attribute on one side.
type Change struct {
	Side    Side
	From    time.Time // the change came later than this; zero: unknown
	Seen    time.Time
	Several bool // more than one change came together
}

// Take records the changes that lead to a write.
func (x *Exchange) Take(changes ...Change) {
	score := quickScore
	wrote := maps.Clone(x.Wrote)
	for _, c := range changes {
		at := wrote[c.Side] // zero: long ago
		from := c.From
		if from.IsZero() {
			from = c.Seen
		}
		switch {
		case c.Several, c.Seen.Sub(at) > answerWithin:
			score = 0
		case from.Sub(at) > quickly:
			score = min(score, slowScore)
		}
		delete(wrote, c.Side)
	}
	if x.Wrote = wrote; score == 0 || len(changes) == 0 {
		x.Score = 0
		return
	}
	x.Score += score
}

// Answer records that a side was written: its next change may answer that write.
func (x *Exchange) Answer(side Side, now time.Time) {
	wrote := maps.Clone(x.Wrote)
	if wrote == nil {
		wrote = map[Side]time.Time{}
	}
	wrote[side] = now
	x.Wrote = wrote
}

// Runaway reports whether two programs seem to answer each other.
func (x *Exchange) Runaway() bool { return x.Score >= runaway }
