package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"planbridge/mapping"
)

// missingInARow ends the search for an issue by number. A discussion or a deleted issue also
// takes a number.
const missingInARow = 10

// readsPerClaim bounds how many issue numbers one claim reads. The next claim goes on from
// there.
const readsPerClaim = 100

// newIssue makes the issue of a card, or of a task.
type newIssue struct {
	*state
	how   string // how it was found
	found *mapping.Issue
	text  string // the text with its marker
}

func (c *newIssue) consider(i mapping.Issue) error {
	if c.found != nil && c.found.Number <= i.Number {
		return nil
	}
	text := entrant{c.state}.madeWith(&i)
	if !(signer{c.state}).hasMarker(text, (signer{c.state}).markerOn(mapping.GitHub)) {
		return nil
	}
	free, err := exclusivity{c.state}.isFree(mapping.IssueRef(i.ID))
	if free {
		c.found, c.text = &i, text
	}
	return err
}

// considerSeen considers the issues of the claim, and the one that keepFound recorded.
func (c *newIssue) considerSeen() error {
	if c.pair.Issue.ID != 0 {
		if err := (reader{c.state}).readIssue(); err != nil {
			return err
		}
		c.found, c.text = c.issue, entrant{c.state}.madeWith(c.issue)
	}
	for _, i := range allSeen[mapping.Issue](c.claimState) {
		if err := c.consider(i); err != nil {
			return err
		}
	}
	return nil
}

// find searches the snapshots that webhooks brought, and the result of a lookup. Where the bridge's
// own account is not known, the first issue with the intent's nonce is no copy, as no item had that
// nonce before.
func (c *newIssue) find(wants []*want) error {
	if c.how == "webhook" {
		if err := c.considerSeen(); err != nil {
			return err
		}
	}
	if c.found != nil && c.how == "webhook" && c.pair.State == mapping.Creating && !c.Authorship(c.found.Author).Ours() {
		if err := c.search(); err != nil {
			return err
		}
	}
	if c.found == nil {
		return nil
	}
	if err := (reader{c.state}).needCard(); err != nil {
		return err
	}
	c.count(CountPrevented, c.how)
	creator{c.state}.noteFoundBy(c.text)
	creator{c.state}.linkIssue(c.found, "found by its marker ("+c.how+")")
	c.mustRead = c.mustRead || c.how == "webhook" // later news may have gone to another link
	wants[0].done = true
	return nil
}

// search reads every issue number above the highest one that was known at the intent. It ends
// with the issue, or after ten missing numbers in a row.
func (c *newIssue) search() error {
	c.how, c.found = "lookup", nil
	intent, missing := c.pair.Intent, 0
	for n, reads := intent.After+1, 0; missing < missingInARow; n, reads = n+1, reads+1 {
		if reads == readsPerClaim {
			return inTurn(0, "still looking among the issues after #%d", intent.After)
		}
		issue, err := do(c, ReadIssue{c.owner.Issue.Repo, n})
		switch {
		case err == nil:
			if err := c.consider(issue); err != nil || c.found != nil {
				return err
			}
			intent.After, missing = n, 0
		case IsGone(err) || errors.Is(err, mapping.ErrMoved):
			missing++
		default:
			return onGitHub(err)
		}
	}
	return nil
}

// errUntitled parks a card or a task without a title: GitHub refuses a blank one. A change of
// the item makes its key due again.
var errUntitled = parks("it has no title, and no issue can be without one")

func (c *newIssue) ready(k *want) (bool, error) {
	if err := (exclusivity{c.state}).requireListed(c.owner.Issue.Repo); err != nil {
		return false, err
	}
	if err := (saver{c.state}).reserve(WriteContent); err != nil {
		return false, err
	}
	if err := (reader{c.state}).needCard(); err != nil {
		return false, err
	}
	view := mapping.CardView(c.card, c.set.Keys)
	k.base = map[mapping.Attribute]mapping.Base{}
	for _, a := range []mapping.Attribute{mapping.Title, mapping.Summary, mapping.Estimate} {
		k.base[a] = baseOf(mapping.GitHubForm(a, view[a].Value, ""), view[a])
	}
	if mapping.CanonicalTitle(k.base[mapping.Title].GitHub) == "" {
		c.pair.Why = errUntitled.Error()
		if c.pair.IsTask() {
			return false, fmt.Errorf("%s: %w", where(c.owner), errUntitled)
		}
		return false, errUntitled
	}
	if c.pair.IsTask() {
		k.base[mapping.State] = initialState(c.p[mapping.State])
	}
	var err error
	if k.shown, err = (creator{c.state}).labelsAlong(); err != nil {
		return false, err
	}
	if k.intent.After == 0 { // after a lost answer, the issue is looked for behind the last number
		k.intent.After, err = do(c, ReadLastNumber{c.owner.Issue.Repo})
	}
	if IsGone(err) || errors.Is(err, mapping.ErrRejected) {
		err = nil // issues are not listed here: after a lost answer all are read
	}
	return err == nil, onGitHub(err)
}

func (c *newIssue) post(wants []*want) error {
	k := wants[0]
	var labels []string
	if !c.pair.IsTask() { // the route keeps the new issue by the first label of its filter
		labels = append(labels, c.route.Labels[:min(1, len(c.route.Labels))]...)
	}
	if hours := k.base[mapping.Estimate].GitHub; hours != "" {
		labels = append(labels, c.set.Scheme.EstimateLabel(hours))
	}
	made, err := do(c, CreateIssue{c.owner.Issue.Repo, NewIssue{
		Title: k.base[mapping.Title].GitHub, Body: signer{c.state}.issueText(k.base[mapping.Summary].GitHub), Labels: append(labels, k.shown...),
	}})
	if err == nil {
		creator{c.state}.linkIssue(&made, "made for the card")
		k.done = true
	}
	return err
}

func (c *newIssue) refused(_ *want, err error) error { return err }

// linkIssue completes the link with the issue that was made for it.
func (w creator) linkIssue(issue *mapping.Issue, why string) {
	reader(w).setIssue(issue)
	if w.pair.Copied && w.card != nil {
		signer(w).noteMarker(mapping.Planning, w.card.Summary.Value)
	}
	w.pair.Base = w.pair.Intent.Base
	told := issue.Delivery != "" // the event of its opening may come without labels
	if sent := w.pair.Base[mapping.Estimate]; !told && sent.GitHub != "" && w.g[mapping.Estimate].Value == "" {
		w.pair.Base[mapping.Estimate] = mapping.Base{Planning: sent.Planning, Version: sent.Version} // GitHub dropped the label in silence
		githubWriter(w).refuseLabel(mapping.Estimate, sent.GitHub)
	}
	w.fresh = true
	w.linked(mapping.GitHub, issueName(issue.Repo, issue.Number)+" "+why)
}

// pointedElsewhere reports whether the card's route makes issues in another repository than the one
// in which its issue is being made. One that was only renamed is the same. One whose name an
// operator accepted for another repository is not: the issue is searched for where it was made.
func (w creator) pointedElsewhere() (bool, error) {
	if w.pair.Intent.Side != mapping.GitHub {
		return false, nil
	}
	i, cards := &w.owner.Issue, !w.pair.IsTask()
	named := strings.EqualFold(i.Repo, w.route.NewCardsIn)
	now, err := do(w, Locate{i.Repo, i.RepoID, cards && !named})
	switch {
	case cards && IsGone(err):
		return true, nil
	case isWithheld(err) || err != nil && !mapping.Refused(err):
		return false, onGitHub(err)
	}
	i.Repo = cmp.Or(now, i.Repo)
	return cards && !strings.EqualFold(i.Repo, w.route.NewCardsIn), nil
}

// labelsAlong returns the labels that a new issue of the card is created with.
func (w creator) labelsAlong() ([]string, error) {
	s := projector(w).shown()
	if s == nil {
		return nil, nil
	}
	add, _ := s.Project(nil, labelProjector(w).cardToShow(), w.set.Scheme)
	for _, l := range add {
		if err := labelProjector(w).ensureLabel(l); err != nil {
			return nil, err
		}
	}
	s.Make(add, w.set.Scheme)
	return add, nil
}
