package journal

import (
	"slices"
	"time"

	"planbridge/mapping"
)

const (
	// Doubt is how long a read that may lag does not count. GitHub's replicas lag less.
	Doubt = 10 * time.Second
	// InFlightFor is how long the journal keeps a write that had no effect when it was checked. Its
	// process, or a proxy, may have been stopped for long.
	InFlightFor = 24 * time.Hour
	// maxInFlight bounds the writes of an attribute that may be under way; the newest are kept.
	maxInFlight = 4
	// maxSpent bounds the consumed edits; the newest are kept.
	maxSpent = 32
)

// Close removes the unanswered records of a side and item, of some attributes or of all, and
// returns them, as their outcome is known.
func Close(j *mapping.Journal, side mapping.Side, item mapping.Ref, attrs ...mapping.Attribute) (closed []mapping.Pending) {
	j.Pending = slices.DeleteFunc(j.Pending, func(p mapping.Pending) bool {
		is := p.Side == side && p.Item == item && !p.Answered && (len(attrs) == 0 || slices.Contains(attrs, p.Attribute))
		if is {
			closed = append(closed, p)
		}
		return is
	})
	return closed
}

// Answer records the answer to a PATCH that carried out some decisions. A record stays until the
// echo shows the replaced value. It is closed for an attribute whose edits GitHub does not report.
func Answer(j *mapping.Journal, item mapping.Ref, ds []mapping.Decision) {
	for _, d := range ds {
		if !d.Attribute.Spec().HasHistory() {
			Close(j, mapping.GitHub, item, d.Attribute)
		}
	}
	for i := range j.Pending {
		p := &j.Pending[i]
		sent := slices.ContainsFunc(ds, func(d mapping.Decision) bool { return d.Attribute == p.Attribute })
		p.Answered = p.Answered || p.Side == mapping.GitHub && p.Item == item && sent
	}
}

// Forget drops a record.
func Forget(j *mapping.Journal, id string) {
	j.Pending = slices.DeleteFunc(j.Pending, func(p mapping.Pending) bool { return p.ID == id })
}

// InFlight records a write that had no effect when it was checked, as it may still be under way. The
// bases of a text are left out, for the room that they take.
func InFlight(j *mapping.Journal, p mapping.Pending) {
	if p.Side == mapping.Planning || p.Attribute.Spec().HasHistory() {
		p.Old = nil
	}
	if p.Side == mapping.GitHub && p.Attribute.Spec().HasHistory() {
		p.Next = mapping.Base{}
	}
	j.InFlight = append(j.InFlight, p)
	newer := 0
	for i, o := range slices.Backward(j.InFlight) {
		if o.Side == p.Side && o.Attribute == p.Attribute {
			newer++
		}
		if newer > maxInFlight {
			j.InFlight = slices.Delete(j.InFlight, i, i+1)
			return
		}
	}
}

// Reopen makes a write that was in flight one of unknown outcome again.
func Reopen(j *mapping.Journal, id string) {
	i := slices.IndexFunc(j.InFlight, func(p mapping.Pending) bool { return p.ID == id })
	if i >= 0 {
		j.Pending = append(j.Pending, j.InFlight[i])
		j.InFlight = slices.Delete(j.InFlight, i, i+1)
	}
}

// MayLand reports whether a write may still be under way.
func MayLand(p mapping.Pending, now time.Time) bool { return now.Sub(p.At) <= InFlightFor }

// Expire drops the writes that cannot be under way any more.
func Expire(j *mapping.Journal, now time.Time) {
	j.InFlight = slices.DeleteFunc(j.InFlight, func(p mapping.Pending) bool { return !MayLand(p, now) })
}

// MadeAgain records that a write to GitHub has happened. It has the values that in-flight writes
// would have restored.
func MadeAgain(j *mapping.Journal, a mapping.Attribute) {
	for i := range j.InFlight {
		if o := &j.InFlight[i]; o.Side == mapping.GitHub && o.Attribute == a {
			o.Restores = false
		}
	}
}

// Verify records that the echo of a write was handled, and the value that the write replaced. The
// record stays until the sides agree.
func Verify(j *mapping.Journal, done mapping.Pending, over Overwritten) {
	spent := spentOn(done, over)
	for _, records := range [][]mapping.Pending{j.Pending, j.InFlight} {
		for i := range records {
			if p := &records[i]; p.ID == done.ID {
				p.Answered, p.Verified, spent.Restores = true, true, p.Restores
			}
		}
	}
	if over.At.IsZero() {
		return
	}
	if j.Consumed = append(j.Consumed, spent); len(j.Consumed) > maxSpent {
		j.Consumed = slices.Delete(j.Consumed, 0, 1)
	}
}

// DropVerified drops the records of writes whose echoes were handled, and reports whether there
// were any. The base shows that the writes happened, and their edits are consumed.
func DropVerified(j *mapping.Journal) (dropped bool) {
	before := len(j.Pending) + len(j.InFlight)
	verified := func(p mapping.Pending) bool { return p.Verified }
	j.Pending, j.InFlight = slices.DeleteFunc(j.Pending, verified), slices.DeleteFunc(j.InFlight, verified)
	return len(j.Pending)+len(j.InFlight) < before
}

// DropSpent drops the consumed edits of attributes that await no edit. Their events must be
// consumed with it, as a repeated one would count as the echo of a later write.
func DropSpent(j *mapping.Journal) {
	j.Consumed = slices.DeleteFunc(j.Consumed, func(s mapping.ConsumedEdit) bool {
		return !slices.ContainsFunc(writes(j), func(p mapping.Pending) bool { return p.Attribute == s.Attribute })
	})
}

// Open reports whether the outcome of a write to GitHub, or the value that it replaced, is still
// unknown.
func Open(j *mapping.Journal) bool {
	return slices.ContainsFunc(j.Pending, func(p mapping.Pending) bool { return p.Side == mapping.GitHub && !p.Verified }) ||
		slices.ContainsFunc(j.InFlight, toAsk)
}

// ForgetIssue removes the records of writes to GitHub.
func ForgetIssue(j *mapping.Journal) {
	j.InFlight = nil
	j.Pending = slices.DeleteFunc(j.Pending, func(p mapping.Pending) bool { return p.Side == mapping.GitHub })
}

// AwaitsEcho reports whether the echo of a write is awaited.
func AwaitsEcho(j *mapping.Journal) bool { return slices.ContainsFunc(j.Pending, awaitsEcho) }

// Step records the digest of the issue after a write of ours.
func Step(j *mapping.Journal, digest string, now time.Time) {
	j.Steps = slices.DeleteFunc(j.Steps, func(s mapping.Step) bool { return now.Sub(s.At) >= Doubt })
	j.Steps = append(j.Steps, mapping.Step{Digest: digest, At: now.UTC()})
}

// TakeStep reports whether a snapshot, which came at a time of our clock, shows the issue after a
// write of ours. It consumes the step, which explains no other snapshot.
func TakeStep(j *mapping.Journal, digest string, came time.Time) bool {
	i := slices.IndexFunc(j.Steps, func(s mapping.Step) bool { return s.Digest == digest && came.Sub(s.At) < Doubt })
	if i < 0 {
		return false
	}
	j.Steps = slices.Delete(j.Steps, i, i+1)
	return true
}

// Record is the record of a decision's write to a side. For a write to GitHub, edited bounds when
// planning's value came to be.
func (b Book) Record(id string, side mapping.Side, item mapping.Ref, d mapping.Decision, edited mapping.Interval) mapping.Pending {
	write := d.Planning
	if side == mapping.GitHub {
		write = d.GitHub
	}
	p := mapping.Pending{
		ID: id, Side: side, Item: item, Attribute: d.Attribute, From: write.From, To: write.To, Next: d.Base, At: b.Now.UTC(),
	}
	if side == mapping.GitHub && b.Issue != nil {
		p.After, p.Edited = b.Issue.UpdatedAt, edited
		p.Restores = !mapping.Same(d.Attribute, write.To, d.Base.GitHub)
	}
	if old, ok := b.Base[d.Attribute]; ok {
		p.Old = &old
	}
	return p
}

// Unanswered has the items with a write of unknown outcome.
type Unanswered struct{ Issue, Card, Tracking bool }

// UnansweredIn returns the items that have to be read for writes of unknown outcome. With task, the
// pair's own item in planning is a task and no card.
func UnansweredIn(j *mapping.Journal, task bool) (u Unanswered) {
	for _, p := range j.Pending {
		if p.Answered {
			continue
		}
		switch p.Item.Kind() {
		case "issue":
			u.Issue, u.Tracking = true, u.Tracking || p.Attribute.Spec().Tracked
		case "card":
			u.Card = true
		case "task":
			u.Card, u.Tracking = u.Card || task, true
		}
	}
	return u
}

// WroteFrom is a write of ours to the issue, by the value before it and the time of its answer.
func WroteFrom(a mapping.Attribute, from string, at time.Time) mapping.WriteRecord {
	return mapping.WriteRecord{Attribute: a, From: mapping.DigestValue(a, from), At: at.UTC()}
}

// Wrote records a write to the issue that has happened.
func Wrote(j *mapping.Journal, o mapping.WriteRecord, now time.Time) {
	j.Written = slices.DeleteFunc(j.Written, func(o mapping.WriteRecord) bool { return now.Sub(o.At) >= Doubt })
	j.Written = append(j.Written, o)
}
