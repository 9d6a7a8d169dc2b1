package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// enter decides whether an item that was seen for the first time becomes a
// link, and if so has its partner created.
func enter(w *work) (verdict, error) {
	if w.pair.State != mapping.Entering {
		return pass, nil
	}
	if err := w.adopted(); err != nil {
		return end, err
	}
	try := w.enterIssue
	if w.pair.Origin == mapping.Planning {
		try = w.enterCard
	}
	err := try()
	return endIf(w.pair.State == mapping.Entering, err)
}

func (w *work) enterIssue() error {
	var seen mapping.Issue
	found, ambiguous, err := slot(w.claim, mapping.IssueRef(w.owner.Issue.ID), &seen)
	if err != nil {
		return err
	}
	if !found || ambiguous || w.looked {
		if err := w.readIssue(); err != nil {
			return err
		}
	} else {
		w.setIssue(&seen)
	}
	if w.bridgeMade(w.issue) {
		return w.refuse("the bridge made it")
	}
	if handed, err := w.handBack(); handed || err != nil {
		return err
	}
	// What was linked when the store was lost is so again, even if it would not enter today.
	if found, err := w.adoptLost(mapping.Planning); found || err != nil {
		return err
	}
	route, why := w.set.Routes.ForIssue(w.issue, w.set.Scheme)
	switch {
	case !w.issue.Lasted(w.set.EnterDelay) && w.link.Import != mapping.ImportAll:
		return w.refuse("it was closed as soon as it was opened")
	case route == nil:
		return w.orPart(why)
	case route.Direction == mapping.ToGitHub:
		return w.refuse("its route only goes to_github")
	case route.Project != w.link.Project:
		return w.moveProject(route)
	}
	if err := w.formerly(); err != nil {
		return err
	}
	// A listing that an import made tells which issues are no sub-issues.
	if route.Tasks == mapping.TasksSubIssues && !(w.link.Import != "" && w.issue.Parent == mapping.NoParent) {
		if handed, err := w.toParent(); handed || err != nil {
			return err
		}
	}
	w.route, w.link.Route = route, route.Name
	w.setIssue(w.issue) // as that route looks at it
	return w.begin(mapping.Planning)
}

func (w *work) refuse(why string) error {
	w.log.Info("not taken", "why", why)
	return errRemove
}

// moveProject hands an issue whose labels lead to another project over to that
// project's part of the store.
func (w *work) moveProject(route *mapping.Route) error {
	link := *w.link
	link.Project, link.Route = route.Project, route.Name
	link.ID, link.Nonce = mapping.LinkID(w.draw()), w.newNonce(route.Project)
	if err := w.pass(w.issue, route.Project, store.Observation{Refs: link.Refs(), Create: &link}); err != nil {
		return fmt.Errorf("hand over to project %s: %w", route.ProjectName, err)
	}
	return w.refuse("its route belongs to project " + route.ProjectName)
}

// pass hands an issue, as it was seen, over to the link that the observation leads
// to, with whatever else that is to be told.
func (w *work) pass(issue *mapping.Issue, to mapping.ObjectID, obs store.Observation, more ...store.Observation) error {
	data, err := json.Marshal(issue)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	obs.Item, obs.At, obs.Digest, obs.Data = mapping.IssueRef(issue.ID), issue.UpdatedAt.Unix(), mapping.DigestIssue(issue), data
	if obs.Event, err = json.Marshal(mapping.Edit{Look: mapping.LookHandedOver}); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return w.deliver(to, append([]store.Observation{obs}, more...))
}

// deliver hands observations over to the link that the first of them leads to. There has
// to be one: else what they tell is lost with this link.
func (w *work) deliver(to mapping.ObjectID, obs []store.Observation) error {
	got, err := do(w, Observe{to, obs})
	for _, g := range got {
		err = errors.Join(err, g.Err)
	}
	if err == nil && got[0].Key == (store.Key{}) {
		return later(deliverWait, "the link that %s was to be handed to has just gone", issueName(w.owner.Issue.Repo, w.owner.Issue.Number))
	}
	return err
}

// deliverWait is when a link is looked for anew that has just gone.
const deliverWait = time.Second

func (w *work) enterCard() error {
	var seen mapping.Card
	found, ambiguous, err := slot(w.claim, mapping.CardRef(w.pair.Card.ID), &seen)
	if err != nil {
		return err
	}
	if found && !ambiguous && !w.looked {
		w.setCard(&seen)
	} else if err := w.readCard(); err != nil {
		return err
	}
	switch {
	case w.card.Placeholder:
		return w.refuse("it is a placeholder")
	case !w.route.MakesIssues():
		return w.refuse("its route makes no issues")
	}
	if !w.route.AllowPublic {
		private, err := do(w, ReadPrivate{w.route.NewCardsIn})
		if err != nil {
			return onGitHub(err)
		}
		if !private {
			return w.refuse("the repository is public and the route does not say allow_public")
		}
	}
	w.owner.Issue.Repo = w.route.NewCardsIn
	if found, err := w.adoptLost(mapping.GitHub); found || err != nil {
		return err
	}
	return w.begin(mapping.GitHub)
}

// begin writes the intent to create the partner on a side.
func (w *work) begin(side mapping.Side) error {
	intent := &mapping.Intent{Side: side, Nonce: w.pair.Nonce, At: w.Now().UTC()}
	if side == mapping.GitHub {
		last, err := do(w, ReadLastNumber{w.owner.Issue.Repo})
		if IsGone(err) || errors.Is(err, mapping.ErrRejected) {
			err = nil // issues are not listed here: after a lost answer all are read
		}
		if err != nil {
			return onGitHub(err)
		}
		intent.After = last
	}
	w.happens(mapping.EventBegun)
	w.pair.Intent, w.link.Epoch = intent, w.epoch
	w.link.Family.Tasks = w.route.Tasks // its tasks are as new as the link
	return nil
}
