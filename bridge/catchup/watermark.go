package catchup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// overlap is how much a listing repeats beyond the lag of GitHub's lists.
const overlap = time.Minute

// watermarkSlack is how many issues the listings may repeat before the watermark moves.
// Another watermark means another URL, which answers 304 only from its second request on.
const watermarkSlack = 5

// errEnough ends a walk after the watermark could be moved.
var errEnough = errors.New("enough")

// repository lists the issues that were updated at and after the watermark, and moves it.
//
// The watermark moves only after a page is stored. It goes to the page's newest update, but never
// past the time of GitHub's answer less the lag of its lists and an overlap. Every update before
// that moment is listed. While nothing happens, the watermark, its URL and the ETag stay the same,
// and an idle repository costs one 304. However many issues were updated at once, only those of the
// last second are listed again after the overlap. After few updates the watermark stays, and news
// cost one request.
//
// Pages shift when an issue is updated during the walk, so that a later page may miss an
// issue. Therefore a page that moves the watermark is the last one of its walk, and the next
// walk begins there. A walk goes to the end only where more issues were updated at a time than
// fit a page. It moves the watermark if nothing was updated meanwhile.
//
// It reports whether a listing counted against GitHub's limit.
func (c *CatchUp) repository(ctx context.Context, repo string) (counted bool, err error) {
	since, err := c.since(ctx, repo)
	if err != nil || since.IsZero() {
		return false, err
	}
	for {
		w := walk{catchUp: c, repo: repo, since: since}
		notModified, err := w.list(ctx, Query{Since: since, Afresh: !c.told[repo]})
		if counted = counted || !notModified; err != nil {
			return counted, err
		}
		c.told[repo] = true
		switch back := w.past(); {
		case !back.IsZero():
			c.o.Logger.Warn("GitHub's clock went back: the catch-up begins there", "repo", repo, "was", since, "is", back)
			since = back
		case w.next.After(since):
			since = w.next
		default:
			return counted, nil
		}
		if err := c.o.Store.PutDoc(ctx, "", docSince(repo), []byte(since.Format(time.RFC3339))); err != nil {
			return counted, fmt.Errorf("store watermark: %w", err)
		}
		maps.DeleteFunc(c.seen[repo], func(_ int64, s lastSeen) bool { return s.at.Before(since) })
	}
}

// since returns the repository's watermark; at first, the time when its first route began to
// run, less the lag of deliveries. It is zero while that is not known.
func (c *CatchUp) since(ctx context.Context, repo string) (time.Time, error) {
	doc, err := store.ReadDoc(ctx, c.o.Store, "", docSince(repo))
	if err != nil {
		return time.Time{}, err
	}
	if doc != nil {
		at, err := time.Parse(time.RFC3339, string(doc))
		if err != nil {
			return time.Time{}, fmt.Errorf("read watermark: %w", err)
		}
		return at, nil
	}
	first := c.firstRun(c.o.Settings.Routes().ForRepo(repo))
	if first.IsZero() {
		return first, nil
	}
	return first.Add(-c.o.Settle).UTC().Truncate(time.Second), nil
}

// walk is one listing, page by page.
type walk struct {
	catchUp *CatchUp
	repo    string
	since   time.Time // zero: everything is listed and there is no watermark

	pages  int
	began  time.Time // when the first page was answered
	newest time.Time // update on any page
	next   time.Time // the watermark that the walk allows
}

func (w *walk) list(ctx context.Context, q Query) (notModified bool, err error) {
	notModified, err = w.catchUp.o.GitHub.ListIssues(ctx, w.repo, q, func(page []mapping.Issue, date time.Time) error {
		return w.page(ctx, page, date)
	})
	switch {
	case errors.Is(err, errEnough):
		return notModified, nil
	case err != nil:
		return notModified, fmt.Errorf("list issues: %w", err)
	case w.pages > 1 && w.stable():
		w.next = w.mark()
	}
	return notModified, nil
}

// past is the watermark's new, earlier value; zero: it does not go back. GitHub's answer was older
// than the watermark by GitHub's own clock, as after a restore. Issues from before the routes'
// first run stay out.
func (w *walk) past() time.Time {
	if w.began.IsZero() || !w.began.Before(w.since) {
		return time.Time{}
	}
	c := w.catchUp
	back, first := w.began.Add(-c.o.Settle-overlap), c.firstRun(c.o.Settings.Routes().ForRepo(w.repo)).Add(-c.o.Settle)
	if back.Before(first) {
		back = first
	}
	if back = back.UTC().Truncate(time.Second); !back.Before(w.since) {
		return time.Time{}
	}
	return back
}

// stable reports whether nothing was updated while the walk went on.
func (w *walk) stable() bool { return w.pages <= 1 || w.newest.Before(w.began.Truncate(time.Second)) }

func (w *walk) page(ctx context.Context, page []mapping.Issue, date time.Time) error {
	if err := w.store(ctx, page); err != nil {
		return err
	}
	w.note(page, date)
	if w.next = w.mark(); w.pages == 1 && len(page) > watermarkSlack && !w.since.IsZero() && w.next.After(w.since) {
		return errEnough
	}
	w.next = time.Time{}
	return nil
}

// note records the time of a page's answer, and the newest update on the page.
func (w *walk) note(page []mapping.Issue, date time.Time) {
	if w.pages++; w.pages == 1 {
		w.began = date
	}
	for i := range page {
		if at := page[i].UpdatedAt; at.After(w.newest) {
			w.newest = at
		}
	}
}

// mark is how far the watermark may go. An answer without a time counts as given at its newest
// update.
func (w *walk) mark() time.Time {
	answered := w.began
	if answered.IsZero() {
		answered = w.newest
	}
	at := answered.Add(-w.catchUp.o.Settle - overlap)
	if w.newest.Before(at) {
		at = w.newest
	}
	return at.UTC().Truncate(time.Second)
}

// store stores the issues of a page that earlier listings did not show.
func (w *walk) store(ctx context.Context, page []mapping.Issue) error {
	c := w.catchUp
	var fresh []mapping.Issue
	shown := map[int64]lastSeen{}
	for i := range page {
		s := lastSeen{page[i].UpdatedAt, mapping.DigestIssue(&page[i])}
		if w.since.IsZero() || c.seen[w.repo][page[i].ID] != s {
			fresh, shown[page[i].ID] = append(fresh, page[i]), s
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	private := func() (bool, error) { return c.o.GitHub.Private(ctx, w.repo) }
	if err := c.o.Intake.Listed(ctx, fresh, private); err != nil {
		return err
	}
	if w.since.IsZero() {
		return nil
	}
	if c.seen[w.repo] == nil {
		c.seen[w.repo] = map[int64]lastSeen{}
	}
	maps.Copy(c.seen[w.repo], shown)
	return nil
}
