package reconcile

import (
	"fmt"
	"iter"

	"planbridge/mapping"
)

// Preview is the reading of both items of a root link, and the decision about them as the
// next reconcile would make it. It asks for no write.
type Preview struct {
	w   work
	out *mapping.Preview
}

// BeginPreview begins a preview of the link of a state, which the preview changes.
func BeginPreview(s State) *Preview { return &Preview{w: newWork(s)} }

// Steps are the reads that the preview needs, as of [Work.Steps].
func (p *Preview) Steps() iter.Seq[*Step] { return stepwise(p.w.state, p.run) }

// Result is nil for a link whose pair does not exist yet or whose route is not configured. An
// error means that the decision could not be made; a side that cannot be read is no error.
func (p *Preview) Result() (*mapping.Preview, error) { return p.out, p.w.err }

func (p *Preview) run() (err error) {
	w := p.w
	l := w.link
	if w.route == nil || !w.served || l.Issue.Number == 0 || l.Card.ID == "" {
		return nil
	}
	w.hidden = visibility(w).public(l.Issue.Repo, false)
	out := &mapping.Preview{Unread: map[mapping.Side]string{}}
	if issue, err := do(w, ReadIssue{l.Issue.Repo, l.Issue.Number}); err != nil {
		out.Unread[mapping.GitHub] = err.Error()
	} else {
		reader(w).setIssue(&issue)
	}
	if err := reader(w).lookAtCard(); err != nil {
		out.Unread[mapping.Planning] = err.Error()
	}
	if out.Plan, err = decider(w).resolve(); err != nil {
		return fmt.Errorf("decide about %s: %w", where(&l.Pair), err)
	}
	out.GitHub, out.Planning = w.g, w.p
	p.out = out
	return nil
}

// lookAtCard reads the card and its tracking task.
func (w reader) lookAtCard() error {
	card, err := do(w, ReadCard{w.pair.Card.ID})
	if err != nil {
		return err
	}
	w.setCard(&card)
	child := w.trackingPair()
	if child == nil || child.Card.ID == "" || !w.route.TrackingTask {
		return nil
	}
	task, err := do(w, ReadTask{child.Card.ID})
	if err != nil {
		return fmt.Errorf("tracking task: %w", err)
	}
	w.p[mapping.State] = task.State
	return nil
}
