package reconcile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
)

// withFamily brings an issue's sub-issues and their tasks to agreement, once the
// issue and its card are or have to wait; err is what became of those. What fails
// keeps neither the rules behind it nor the root waiting.
func (w *work) withFamily(err error) error {
	if w.link.Cleaning {
		return w.cleanFamily(err)
	}
	var put *again
	if w.route == nil || !w.served || w.pair.State != mapping.Linked || err != nil && !errors.As(err, &put) {
		return err
	}
	errs := []error{err}
	for i := range family {
		if ends(errs) {
			break
		}
		_, err := family[i].apply(w)
		errs = append(errs, err)
	}
	w.showLater()
	return worst(errs)
}

// ofSubIssues is the rule that does one thing where the route has sub-issues for tasks.
func ofSubIssues(one func(*work) error) func(*work) (verdict, error) {
	return func(w *work) (verdict, error) {
		if w.route.Tasks != mapping.TasksSubIssues {
			return pass, nil
		}
		return pass, one(w)
	}
}

// workParts works the sub-issues of which there is something to do.
func (w *work) workParts() error {
	var errs []error
	for _, p := range slices.Clone(w.link.Parts) {
		if ends(errs) {
			break
		}
		pw := w.part(p)
		err := pw.takeEvents()
		if err == nil && pw.stirred() {
			err = pw.workPart()
		}
		pw.verifyLater() // also of those that rest: the key's date is set anew
		errs = append(errs, w.passed(pw, err))
	}
	return worst(errs)
}

// passed takes over what a part's work leaves behind. A part that never came to
// be is forgotten.
func (w *work) passed(pw *work, err error) error {
	pw.again = w.again.later(pw.again)
	pw.confirmLater()
	w.again = pw.again
	w.withheld = cmp.Or(w.withheld, pw.withheld)
	w.showAgain = w.showAgain.sooner(pw.showAgain)
	half := pw.pair.Card.ID == "" || pw.owner.Issue.ID == 0
	if errors.Is(err, errRemove) || half && pw.pair.State == mapping.Orphaned {
		w.forgetPart(pw.pair)
		return nil
	}
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

func (w *work) forgetPart(p *mapping.Pair) {
	w.link.Parts = slices.DeleteFunc(w.link.Parts, func(o *mapping.Pair) bool { return o == p })
}

// ends reports whether an error leaves nothing more to be done under this
// claim.
func ends(errs []error) bool {
	for _, err := range errs {
		var put *again
		var wait *waitFor
		var limited *mapping.RateLimited
		switch {
		case err == nil, errors.As(err, &put):
		case lostLease(err), errors.As(err, new(*mapping.BrokenError)), isTooLarge(err), errors.As(err, &wait), errors.As(err, &limited),
			errors.Is(err, mapping.ErrUnavailable), errors.Is(err, mapping.ErrUnauthorized), errors.Is(err, ErrOver):
			return true
		}
	}
	return false
}

// worst is the error that decides what becomes of the key: a failure before
// what only has to wait, of which the shortest.
func worst(errs []error) error {
	rank := func(err error) int {
		var put *again
		switch {
		case lostLease(err), errors.As(err, new(*mapping.BrokenError)), isTooLarge(err):
			return 0
		case errors.As(err, &put):
			return 2
		case isWithheld(err), errors.Is(err, errUntitled): // what only parks the key
			return 3
		}
		return 1
	}
	wait := func(err error) time.Duration {
		if put := (*again)(nil); errors.As(err, &put) {
			return put.after
		}
		return 0
	}
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	return slices.MinFunc(errs, func(a, b error) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(wait(a), wait(b))) })
}

// takeParents notes which issues of the family changed their place in it. A
// pair is one for life: it stays whatever parent the issue has, and an issue
// that got a card of its own keeps that.
func (w *work) takeParents() error {
	for _, data := range w.claim.Events {
		var e mapping.Edit
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("stored event: %w", err)
		}
		if e.Parent == nil {
			continue
		}
		l, keeps := w.link.Part(e.Item), "its task"
		if e.Item == mapping.IssueRef(w.owner.Issue.ID) {
			l, keeps = w.pair, "its card"
		}
		if l == nil || l.Parent == e.Parent.ID {
			continue
		}
		first := l.Parent == 0 && l.IsTask()
		l.Parent = e.Parent.ID
		switch {
		case e.Parent.ID == mapping.NoParentID:
			w.note("", "", "parent", where(l)+" is no sub-issue any more and keeps "+keeps)
		case !first || !l.IsTask():
			w.note("", "", "parent", strings.Join([]string{where(l), "is a sub-issue of", e.Parent.Name, "now and keeps", keeps}, " "))
		}
	}
	return nil
}
