package webhook

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/goccy/go-json"

	"planbridge/mapping"
	"planbridge/store"
)

// actions are the actions of `issues` events whose payload shows the present issue.
var actions = map[string]bool{
	"assigned": true, "closed": true, "demilestoned": true, "edited": true, "field_added": true,
	"field_removed": true, "labeled": true, "locked": true, "milestoned": true, "opened": true,
	"pinned": true, "reopened": true, "typed": true, "unassigned": true, "unlabeled": true,
	"unlocked": true, "unpinned": true, "untyped": true,
}

// classify decides what a delivery shows, and stores it.
//
//	not an issues event, an unknown action, a pull request   ignored
//	deleted, transferred   the link becomes due; the payload is out of date
//	all others             the payload is the newest snapshot; `edited` also has the earlier text
func (in *Intake) classify(ctx context.Context, d *delivery, ev Event) (verdict, error) {
	switch d.event {
	case "repository":
		return in.repository(ctx, ev)
	case "sub_issues":
		return in.family(ctx, d, ev)
	}
	gone := ""
	if ev.Action == "deleted" || ev.Action == "transferred" {
		gone = ev.Action
	}
	switch {
	case d.event != "issues":
		return verdict{result: ignored, why: "nothing is read from this event"}, nil
	case gone == "" && !actions[ev.Action]:
		return verdict{result: ignored, why: "the action is not known"}, nil
	case ev.Issue == nil || ev.Issue.ID <= 0 || ev.Issue.Repo == "" || ev.Issue.UpdatedAt.IsZero():
		return verdict{}, bad(errors.New("payload carries no whole issue"))
	case ev.Issue.PullRequest:
		return verdict{result: ignored, why: "it is a pull request"}, nil
	}
	ev.Issue.Delivery = d.key
	s := issueObservation{
		delivery: d.key, issue: ev.Issue, old: ev.OldIssue, away: gone != "", gone: gone, opened: ev.Action == "opened",
		public: func() (bool, error) { return !ev.Private, nil },
	}
	s.covers = d.covers()
	if ev.Action == "labeled" || ev.Action == "assigned" {
		act := mapping.Triage{Actor: ev.Sender, Human: ev.SenderType == "User"}
		s.released = ev.Issue.ReleasedBy(act, in.o.Accounts.Authorship(ev.Sender))
	}
	s.edit = edit(d, ev)
	if (ev.Action == "labeled" || ev.Action == "unlabeled") && in.o.Accounts.Authorship(ev.Sender).Ours() {
		// Each of our edits counts: a slot keeps only the last snapshot of one second.
		s.edit = &mapping.IssueEvent{
			Item: mapping.IssueRef(ev.Issue.ID), Delivery: d.key,
			Step: &mapping.OwnEvent{Issue: *ev.Issue, Came: time.Now().UTC(), Label: ev.Label, On: ev.Action == "labeled"},
		}
	}
	return in.store(ctx, d, s)
}

// edit returns what an event says beyond the present issue, or nil.
func edit(d *delivery, ev Event) *mapping.IssueEvent {
	e := &mapping.IssueEvent{Look: ev.Action, Item: mapping.IssueRef(ev.Issue.ID), Delivery: d.key}
	switch {
	case ev.Action == "transferred" && ev.NewIssue != nil:
		e.Moved = mapping.NewMove(ev.Issue.ID, ev.NewIssue)
	case ev.Action == "transferred", ev.Action == "deleted":
	case ev.Action == "opened" && ev.OldIssue != nil:
		e.Look, e.Item, e.Moved = "transferred", mapping.IssueRef(ev.OldIssue.ID), mapping.NewMove(ev.OldIssue.ID, ev.Issue)
	case ev.Action == "opened" && ev.Issue.UpdatedAt.Sub(ev.Issue.CreatedAt) < time.Minute:
		e.Look = mapping.LookOpened
	case ev.Action == "edited":
		e = &mapping.IssueEvent{
			Item: e.Item, TitleFrom: ev.TitleFrom, BodyFrom: ev.BodyFrom, Title: ev.Issue.Title, Body: ev.Issue.Body,
			Sender: ev.Sender, At: ev.Issue.UpdatedAt, Delivery: d.key,
		}
	default:
		return nil
	}
	return e
}

// repository reports an event of a repository.
func (in *Intake) repository(ctx context.Context, ev Event) (verdict, error) {
	switch {
	case ev.OldRepo != "" && ev.Repo != "":
		if err := in.o.Repositories.Renamed(ctx, ev.OldRepo, ev.Repo); err != nil {
			return verdict{}, err
		}
	case ev.Action == "unarchived":
		in.o.Repositories.Writable(ctx, ev.Repo)
	case ev.Action == "publicized", ev.Action == "privatized": // the intake has read its visibility, as from every event
	default:
		return verdict{result: ignored, why: "nothing is read from this event"}, nil
	}
	return verdict{result: stored}, nil
}

// store makes an observation durable.
func (in *Intake) store(ctx context.Context, d *delivery, s issueObservation) (verdict, error) {
	p, err := in.resolveLink(ctx, s)
	if err == nil {
		err = in.owned(ctx, s, p.obs)
	}
	switch {
	case errors.Is(err, errForeign):
		return in.reportForeign(ctx, d), nil
	case err != nil:
		return verdict{}, asFull(err)
	case p.project == "":
		return p.dropped(), nil
	}
	ps := []routed{p}
	got, err := in.observe(ctx, p.project, ps)
	switch {
	case err != nil:
		return verdict{}, asFull(err)
	case got[0].Duplicate:
		return verdict{result: duplicate, key: got[0].Key}, nil
	case got[0].Key == store.Key{}:
		return ps[0].dropped(), nil
	}
	return verdict{result: stored, key: got[0].Key}, nil
}

// observe stores observations of one project. It first stores those with a known link, nearly
// all, and makes their keys due at once. For the others it makes links, which are due after their
// delay. An error says that some are not stored.
func (in *Intake) observe(ctx context.Context, project mapping.ObjectID, ps []routed) ([]store.Observed, error) {
	got, err := in.observeKnown(ctx, project, ps)
	if err != nil {
		return nil, err
	}
	var others []mapping.ObjectID
	var fresh []int
	if slices.ContainsFunc(got, func(o store.Observed) bool { return o.Key == store.Key{} }) {
		if others, err = in.others(ctx, project); err != nil {
			return nil, err
		}
	}
	for i := range got {
		if got[i].Key == (store.Key{}) {
			if err := in.release(ctx, &ps[i]); err != nil {
				return nil, err
			}
		}
		switch {
		case got[i].Key != store.Key{}:
		case ps[i].create != nil:
			fresh = append(fresh, i)
		default: // its route leads elsewhere now, or its link just handed it over
			one, known, err := in.observeElsewhere(ctx, others, &ps[i])
			if err != nil {
				return nil, err
			}
			if known {
				got[i] = one
			}
		}
	}
	if len(fresh) == 0 {
		return got, nil
	}
	return got, in.enter(ctx, project, others, ps, fresh, got)
}

// observeKnown stores the observations of issues with a link in the project. It remembers those
// of the others that do not enter.
func (in *Intake) observeKnown(ctx context.Context, project mapping.ObjectID, ps []routed) ([]store.Observed, error) {
	obs := make([]store.Observation, len(ps))
	var out []int64
	for i := range ps {
		if obs[i] = ps[i].obs; ps[i].create == nil {
			out = append(out, ps[i].seen.issue.ID)
		}
	}
	release, err := in.rejected.hold(ctx, out)
	defer release()
	if err != nil {
		return nil, err
	}
	got, err := in.o.Store.Observe(ctx, project, obs)
	if err != nil {
		return nil, err
	}
	for i := range got {
		if got[i].Err != nil {
			return nil, got[i].Err
		}
		if got[i].Key == (store.Key{}) && ps[i].create == nil {
			in.remember(&ps[i])
		} else if got[i].Key != (store.Key{}) {
			in.waiting.remove(ps[i].seen.issue.ID)
		}
	}
	return got, nil
}

// enter makes links for the observations at the indexes fresh, unless another project has a link
// or a newer observation keeps the issue out. It sets their results in got. Another replica may
// do so in another project meanwhile. The reconcile lets one link stay before anything is made
// for them.
func (in *Intake) enter(ctx context.Context, project mapping.ObjectID, others []mapping.ObjectID, ps []routed, fresh []int, got []store.Observed) error {
	ids := make([]int64, len(fresh))
	for n, i := range fresh {
		ids[n] = ps[i].seen.issue.ID
	}
	release, err := in.rejected.hold(ctx, ids)
	defer release()
	if err != nil {
		return err
	}
	var obs []store.Observation
	var index []int
	for _, i := range fresh {
		one, known, err := in.observeElsewhere(ctx, others, &ps[i])
		if err != nil {
			return err
		}
		if known {
			got[i] = one
			continue
		}
		why, err := in.overtaken(&ps[i])
		if err != nil {
			return err
		}
		if ps[i].why = why; why == "" {
			o := ps[i].obs
			o.Create, o.Delay = ps[i].create(), ps[i].delay
			obs, index = append(obs, o), append(index, i)
		}
	}
	if len(obs) == 0 {
		return nil
	}
	made, err := in.o.Store.Observe(ctx, project, obs)
	if err != nil {
		return err
	}
	for n, i := range index {
		if got[i] = made[n]; made[n].Err != nil {
			return made[n].Err
		}
		in.rejected.forget(ps[i].seen.issue.ID)
		in.waiting.remove(ps[i].seen.issue.ID)
	}
	return nil
}

// others returns all projects of the store except one.
func (in *Intake) others(ctx context.Context, project mapping.ObjectID) ([]mapping.ObjectID, error) {
	all, err := store.ProjectsAfter(ctx, in.o.Store, []mapping.ObjectID{project})
	if err != nil {
		return nil, err
	}
	return all[1:], nil
}

// observeElsewhere stores an observation in another project that has a link for it, and reports
// whether there is one.
func (in *Intake) observeElsewhere(ctx context.Context, others []mapping.ObjectID, p *routed) (store.Observed, bool, error) {
	home, err := in.home(ctx, others, p.obs.Refs)
	if home == "" || err != nil {
		return store.Observed{}, false, err
	}
	got, err := in.o.Store.Observe(ctx, home, []store.Observation{p.obs})
	if err != nil {
		return store.Observed{}, false, err
	}
	return got[0], true, got[0].Err
}

// asFull distinguishes a full queue from a store that does not answer.
func asFull(err error) error {
	if errors.Is(err, store.ErrFull) {
		return &fault{http.StatusServiceUnavailable, full, err}
	}
	return err
}

// encode encodes plain data of this module, which always has a JSON form.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("webhook: encode: " + err.Error())
	}
	return data
}
