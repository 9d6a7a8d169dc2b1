package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"planbridge/mapping"
)

// create makes the partner that the link's intent names, exactly once: an item
// that carries the intent's marker is adopted, and after a lost answer nothing
// is made again before its absence is proven.
func (w *work) create(ctx context.Context) error {
	if err := w.adopted(ctx); err != nil {
		return err
	}
	if w.link.Intent == nil {
		w.happens(mapping.EventReconsidered) // a link that was rebuilt halfway: its intent is taken anew
		return w.enter(ctx)
	}
	adopt := w.adoptCard
	if w.link.Intent.Side == mapping.GitHub {
		adopt = w.adoptIssue
	}
	found, err := adopt(ctx)
	if err != nil {
		return err
	}
	if !found {
		if err := w.make(ctx); err != nil {
			return err
		}
	}
	return w.sync(ctx)
}

func (w *work) make(ctx context.Context) error {
	if w.set.DryRun {
		if _, again := w.said.LoadOrStore(where(w.link), true); !again { // its link goes, and the next change makes another
			w.log.Info("dry run: would create", "side", w.link.Intent.Side)
		}
		return errRemove
	}
	if w.link.Intent.Side == mapping.Planning {
		if err := w.alone(ctx); err != nil {
			return err
		}
	}
	if w.link.Intent.Side == mapping.GitHub {
		if err := w.reserve(ctx, WriteContent); err != nil {
			return err
		}
	}
	if err := w.brakeCreate(ctx); err != nil {
		return err
	}
	if w.link.Intent.Side == mapping.GitHub {
		return w.makeIssue(ctx)
	}
	return w.makeCard(ctx)
}

// certain reports whether a failed create certainly made nothing.
func certain(err error) bool {
	var limited *mapping.RateLimited
	if errors.As(err, &limited) {
		return true
	}
	for _, known := range []error{
		mapping.ErrRejected, mapping.ErrUnavailable, mapping.ErrUnauthorized, mapping.ErrForbidden,
		mapping.ErrNotFound, mapping.ErrGone, mapping.ErrMoved,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// send writes the intent as sent and makes one create request. After an answer
// that proves that nothing was made the intent is unsent again.
func send[T any](ctx context.Context, w *work, intent *mapping.Intent, post func(context.Context) (T, error)) (T, error) {
	var none T
	intent.Sent, intent.At, intent.Lookups = true, time.Now().UTC(), 0
	wctx, cancel, err := w.writing(ctx)
	if err != nil {
		intent.Sent = false
		return none, err
	}
	defer cancel()
	made, err := post(wctx)
	if err != nil {
		intent.Sent = !certain(err)
		return none, err
	}
	return made, nil
}

// outlive notes that what a process had sent may have been under way until it died. That
// is only known by the next claim, which may come at once.
func outlive(l *mapping.Link, now time.Time) {
	revive := func(i *mapping.Intent) {
		if i != nil && i.Sent {
			i.At = now
		}
	}
	revive(l.Intent)
	for i := range l.Children {
		revive(l.Children[i].Intent)
	}
	for _, part := range l.Parts {
		outlive(part, now)
	}
}

// uncertainCreate puts the key off until what was sent can be looked for.
func uncertainCreate(intent *mapping.Intent, settle time.Duration, err error) error {
	if !intent.Sent {
		return err
	}
	return later(settle, "create: %v; to be looked for before it is tried again", err)
}

// needIssue makes sure that a snapshot of the issue is at hand.
func (w *work) needIssue(ctx context.Context) error {
	if w.issue != nil {
		return nil
	}
	var seen mapping.Issue
	if found, ambiguous, err := slot(w, mapping.IssueRef(w.link.Issue.ID), &seen); err != nil {
		return err
	} else if found && !ambiguous {
		w.setIssue(&seen)
		return nil
	}
	return w.readIssue(ctx)
}

func (w *work) needCard(ctx context.Context) error {
	if w.card != nil {
		return nil
	}
	if w.link.Task {
		return w.needTask(ctx)
	}
	var seen mapping.Card
	if found, ambiguous, err := slot(w, mapping.CardRef(w.link.Card.ID), &seen); err != nil {
		return err
	} else if found && !ambiguous {
		w.setCard(&seen)
		return nil
	}
	return w.readCard(ctx)
}

// makeCard creates the issue's card. What planning refuses about it (a
// person's username, an estimate, one of a bucket's two ids) is left out in
// turn, so that one bad value does not keep the issue from being planned.
func (w *work) makeCard(ctx context.Context) error {
	if err := w.needIssue(ctx); err != nil {
		return err
	}
	buckets, err := w.atPlanning().BucketIDs(ctx, w.route.BucketFor(w.issue))
	if err != nil {
		return onPlanning(err)
	}
	if len(buckets) == 0 {
		return fmt.Errorf("create card: project %s has no bucket %q", w.route.ProjectName, w.route.BucketFor(w.issue))
	}
	buckets = w.refusing.last(buckets)
	if err := w.oneEstimate(ctx); err != nil {
		return err
	}
	view, _ := mapping.IssueView(w.issue, w.set.Scheme, w.set.Keys, nil)
	w.boundLines(view[mapping.Summary].Value)
	user, intent := w.username(), w.link.Intent
	summary := mapping.PlanningForm(mapping.Summary, w.link.Text(w.route, mapping.Summary, view[mapping.Summary].Value), "")
	item := NewItem{Title: view[mapping.Title].Value, Summary: w.cardText(summary), Estimate: mapping.PlanningForm(mapping.Estimate, view[mapping.Estimate].Value, "")}
	for {
		intent.Base = map[mapping.Attribute]mapping.Base{
			mapping.Title:    {GitHub: view[mapping.Title].Value, Planning: item.Title},
			mapping.Summary:  {GitHub: view[mapping.Summary].Value, Planning: summary},
			mapping.Estimate: {GitHub: view[mapping.Estimate].Value, Planning: item.Estimate},
		}
		card, err := w.postCard(ctx, buckets[0], user, item)
		var refused *mapping.Rejection
		switch {
		case err == nil:
			w.linkCard(&card, "made for the issue")
			return nil
		case errors.As(err, &refused) && user != w.route.Username && refused.Field != string(mapping.Title) && refused.Field != string(mapping.Estimate):
			w.refuseUser(user, refused)
			user = w.route.Username
		case errors.As(err, &refused) && item.Estimate != "" && (refused.Field == "" || refused.Field == string(mapping.Estimate)):
			w.refuseValue(mapping.Planning, mapping.Estimate, item.Estimate, refused)
			item.Estimate = ""
		case (isGone(err) || errors.As(err, &refused)) && len(buckets) > 1:
			w.refusing.add(buckets[0])
			buckets = buckets[1:]
		case errors.As(err, &refused) && summary != "" && (refused.Field == "" || refused.Field == string(mapping.Summary)):
			w.refuseValue(mapping.Planning, mapping.Summary, summary, refused)
			summary, item.Summary = "", w.cardText("")
		default:
			return uncertainCreate(intent, w.set.Settle.Planning, onPlanning(fmt.Errorf("create card: %w", err)))
		}
	}
}

// oneEstimate removes all estimate labels but the one that the card is made
// with: once that is the base, another one would pass for the newer.
func (w *work) oneEstimate(ctx context.Context) error {
	if len(w.extra) > 0 && !w.fresh {
		if err := w.readIssue(ctx); err != nil {
			return err
		}
	}
	return w.swapLabels(ctx, nil, w.extra)
}

// cardText is a summary with the footer that names and marks the issue.
func (w *work) cardText(summary string) string {
	if w.link.Origin != mapping.GitHub && !w.link.Copied {
		return summary
	}
	mark := mapping.Marker{Kind: w.markerOn(mapping.Planning), Link: w.link.ID, Nonce: w.link.Nonce, Partner: strconv.FormatInt(w.link.Issue.ID, 10)}
	return w.set.Keys.AppendFooter(summary, mark, w.link.Issue.Repo, w.link.Issue.Number, w.issueURL())
}

// issueText is a body with the comment that marks the card, where the bridge
// made the issue.
func (w *work) issueText(body string) string {
	if w.link.Origin != mapping.Planning {
		return body
	}
	mark := mapping.Marker{Kind: w.markerOn(mapping.GitHub), Link: w.link.ID, Nonce: w.link.Nonce, Partner: string(w.link.Card.ID)}
	return w.set.Keys.AppendComment(body, mark)
}

// errUntitled parks a card (or a task) that cannot become an issue: GitHub takes none
// with a blank title. A change takes it up again.
var errUntitled = errors.New("it has no title, and no issue can be without one")

// makeIssue creates the card's issue.
func (w *work) makeIssue(ctx context.Context) error {
	if err := w.needCard(ctx); err != nil {
		return err
	}
	view, intent := mapping.CardView(w.card, w.set.Keys), w.link.Intent
	body := mapping.GitHubForm(mapping.Summary, view[mapping.Summary].Value, "")
	issue := NewIssue{Title: mapping.GitHubForm(mapping.Title, view[mapping.Title].Value, ""), Body: w.issueText(body)}
	if mapping.CanonicalTitle(issue.Title) == "" {
		w.link.Why = errUntitled.Error()
		if w.link.Task {
			return fmt.Errorf("%s: %w", where(w.link), errUntitled)
		}
		return errUntitled
	}
	estimate := mapping.GitHubForm(mapping.Estimate, view[mapping.Estimate].Value, "")
	required, estimated, shown := w.requiredLabels(), []string(nil), w.labelsAlong(ctx)
	if estimate != "" {
		estimated = []string{w.set.Scheme.EstimateLabel(estimate)}
	}
	for {
		intent.Base = map[mapping.Attribute]mapping.Base{
			mapping.Title:    based(issue.Title, view[mapping.Title]),
			mapping.Summary:  based(body, view[mapping.Summary]),
			mapping.Estimate: based(estimate, view[mapping.Estimate]),
		}
		if w.link.Task {
			intent.Base[mapping.State] = bornTodo(w.p[mapping.State])
		}
		issue.Labels = slices.Concat(required, estimated, shown)
		made, err := send(ctx, w, intent, func(ctx context.Context) (mapping.Issue, error) {
			return w.atGitHub().CreateIssue(ctx, w.link.Issue.Repo, issue)
		})
		var refused *mapping.Rejection
		switch {
		case err == nil:
			w.linkIssue(&made, "made for the card")
			return nil
		case errors.As(err, &refused) && body != "" && (refused.Field == "body" || mapping.TooLong(issue.Body)):
			w.refuseValue(mapping.GitHub, mapping.Summary, body, refused)
			body, issue.Body = "", w.issueText("")
		case errors.As(err, &refused) && len(shown) > 0 && refused.Field != "title":
			shown = nil // what only shows must not keep the issue from being made
		case errors.As(err, &refused) && estimate != "" && refused.Field != "title":
			w.refuseValue(mapping.GitHub, mapping.Estimate, estimate, refused)
			estimated, estimate = nil, ""
		case errors.As(err, &refused) && body != "" && refused.Field != "title":
			w.refuseValue(mapping.GitHub, mapping.Summary, body, refused)
			body, issue.Body = "", w.issueText("")
		default:
			return uncertainCreate(intent, w.set.Settle.GitHub, onGitHub(fmt.Errorf("create issue in %s: %w", w.link.Issue.Repo, err)))
		}
	}
}

// requiredLabels are the labels without which the route would not keep an issue that
// is made for a card: the first of those that it asks for. A sub-issue needs none.
func (w *work) requiredLabels() []string {
	if w.link.Task || len(w.route.Labels) == 0 {
		return nil
	}
	return w.route.Labels[:1]
}

func based(github string, p mapping.Versioned) mapping.Base {
	return mapping.Base{GitHub: github, Planning: p.Value, Version: p.Version}
}

// linkCard completes the link with the card that its intent made.
func (w *work) linkCard(card *mapping.Card, why string) {
	w.link.Card = mapping.NameCard(card)
	w.link.Card.Version, w.link.Card.CountersVersion = card.Version, card.CountersVersion
	w.link.Card.Made = w.route.BucketTitle(w.issue)
	view := mapping.CardView(card, w.set.Keys)
	w.link.Base = map[mapping.Attribute]mapping.Base{}
	for a, base := range w.link.Intent.Base {
		w.link.Base[a] = w.answered(a, base, base.Planning, view[a])
	}
	w.setCard(card)
	w.linked(mapping.Planning, fmt.Sprintf("card %s %s", card.ID, why))
}

// answered is the base after planning answered to a write: what it says now,
// where that is what was sent or its normalisation of it; else what was sent,
// and what it says now is a change of planning to decide on.
func (w *work) answered(a mapping.Attribute, base mapping.Base, sent string, now mapping.Versioned) mapping.Base {
	if w.agrees(a, sent, now.Value) {
		base.Planning, base.Version = now.Value, now.Version
	}
	return base
}

// linkIssue completes the link with the issue that its intent made.
func (w *work) linkIssue(issue *mapping.Issue, why string) {
	w.setIssue(issue)
	if w.link.Copied && w.card != nil {
		w.marked(mapping.Planning, w.card.Summary.Value)
	}
	w.link.Base = w.link.Intent.Base
	if sent := w.link.Base[mapping.Estimate]; sent.GitHub != "" && w.g[mapping.Estimate].Value == "" {
		w.link.Base[mapping.Estimate] = mapping.Base{Version: sent.Version} // GitHub dropped the label in silence
		w.refuseLabel(mapping.Estimate, sent.GitHub)
	}
	w.fresh = true
	w.linked(mapping.GitHub, issueName(issue.Repo, issue.Number)+" "+why)
}

func (w *work) linked(side mapping.Side, why string) {
	for a, base := range w.link.Base {
		if base.Planning != "" || base.GitHub != "" {
			w.Metrics.Writes.WithLabelValues(w.link.Route, string(side), string(a)).Inc()
		}
	}
	w.happens(mapping.EventCompleted)
	w.link.Intent, w.link.Unfinished = nil, true
	w.log = w.logger()
	w.lag(side)
	w.note(side, "", "create", why)
}

// refuseUser takes in that planning refuses a person's username.
func (w *work) refuseUser(user string, why error) {
	w.Metrics.UserRefused.WithLabelValues(w.link.Route).Inc()
	w.log.Warn("planning refuses a user; the route's user writes instead", "username", user, "err", why)
}

// refuseValue blocks one value of one attribute until it changes, and says so
// once.
func (w *work) refuseValue(side mapping.Side, a mapping.Attribute, value string, why *mapping.Rejection) {
	if w.link.Refused == nil {
		w.link.Refused = map[mapping.Attribute]mapping.Refusal{}
	}
	w.link.Refused[a] = mapping.Refusal{Side: side, Value: mapping.DigestText(value), Words: why.Words, At: time.Now().UTC()}
	w.note(side, a, "refused", why.Error())
}
