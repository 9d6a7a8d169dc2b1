package reconcile

import (
	"errors"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// An item that gets no partner here is declined, or is handed to the link that has it.

func (w entrant) decline(why string) error {
	w.log.Info("not taken", "why", why)
	return errRemove
}

// accepts reports whether an issue is synchronised, and why not. A route's filter is about
// root links. A sub-issue is only kept out by the label plan:ignore.
func (w entrant) accepts(issue *mapping.Issue) (bool, string) {
	if w.pair.IsTask() {
		return (&mapping.Route{}).Accepts(issue, w.set.Scheme)
	}
	return w.route.Accepts(issue, w.set.Scheme)
}

// bridgeMade reports whether the bridge made an issue.
func (w entrant) bridgeMade(issue *mapping.Issue) bool {
	return w.set.Keys.Made(issue, w.Authorship(issue.Author))
}

// handOverIssue delivers an issue's snapshot to the link that the observation names, with
// further observations.
func (w entrant) handOverIssue(issue *mapping.Issue, to mapping.ObjectID, obs store.Observation, more ...store.Observation) error {
	obs.Item, obs.At, obs.Digest, obs.Data = mapping.IssueRef(issue.ID), issue.UpdatedAt.Unix(), mapping.DigestIssue(issue), store.Encode(issue)
	obs.Event = store.Encode(mapping.IssueEvent{Look: mapping.LookHandedOver})
	return w.deliver(to, append([]store.Observation{obs}, more...))
}

// deliverWait is when a link that has just vanished is looked up again.
const deliverWait = time.Second

// deliver sends observations to the link that the first of them names. That link has to exist:
// otherwise the observations would be lost with this link.
func (w entrant) deliver(to mapping.ObjectID, obs []store.Observation) error {
	got, err := do(w, Observe{to, obs})
	for _, g := range got {
		err = errors.Join(err, g.Err)
	}
	if err == nil && got[0].Key == (store.Key{}) {
		return later(deliverWait, "the link that %s was to be handed to has just gone", issueName(w.owner.Issue.Repo, w.owner.Issue.Number))
	}
	return err
}
