package status

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// The bounds of a search.
const (
	searchHits   = 50
	searchWithin = 5 * time.Second
	maxQuery     = 300 // characters
)

// hit is a pair that a search found.
type hit struct {
	Link
	Title string
	Match string // the matching part of it, where that is not its own title
}

// searchData is the data of the template for a search.
type searchData struct {
	frame
	Hits   []hit
	Routes []string // whose name or repository has the words
	More   bool     // there are more hits
	Seen   int      // searched pairs
	Ended  bool     // the time ended before all were searched
}

// search finds pairs by an issue, a card or a title. Words that name one pair alone lead to
// that pair's page.
func (h *handler) search(w http.ResponseWriter, r *http.Request) {
	query := strings.TrimSpace(cut(maxQuery, r.FormValue("q")))
	d := searchData{frame: h.frame("Search", "/")}
	d.Query = query
	if query == "" {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	if item := h.named(r.Context(), query); item != "" {
		http.Redirect(w, r, explainPath(item), http.StatusSeeOther)
		return
	}
	for _, route := range h.Operator.Routes() {
		if len(d.Routes) < searchHits && (has(route.Name, query) || has(strings.Join(route.Repositories, " "), query)) {
			d.Routes = append(d.Routes, route.Name)
		}
	}
	err := h.searchLinks(r.Context(), query, &d)
	if err != nil {
		h.Logger.Warn("answering an operator", "path", r.URL.Path, "err", err)
		h.failPage(w, r, http.StatusInternalServerError, err)
		return
	}
	h.render(w, r, http.StatusOK, "search.html", &d)
}

// named is the item that the whole words name; "": none. An issue may be named by the address of
// its page. A number names none, as it may be an issue's or a card's.
func (h *handler) named(ctx context.Context, query string) string {
	item, err := ParseItem(query)
	if err != nil || item.CID != 0 || strings.ContainsAny(item.Name, " \t") {
		return ""
	}
	if _, err := h.Operator.Find(ctx, item.Name); err == nil {
		return item.Name
	}
	if item.Repository == "" {
		return ""
	}
	if _, err := h.Operator.Outside(ctx, item.Name); err == nil {
		return item.Name
	}
	return ""
}

// searchLinks searches the pairs, for a bounded time.
func (h *handler) searchLinks(ctx context.Context, query string, d *searchData) error {
	end := d.Now.Add(searchWithin)
	number, numeric := strings.TrimPrefix(query, "#"), false
	if _, err := strconv.ParseInt(number, 10, 64); err == nil {
		numeric = true
	}
	err := h.Operator.Links(ctx, "", func(l *mapping.Link) error {
		if len(d.Hits) == searchHits {
			d.More = true
			return errEnough
		}
		if d.Seen++; d.Seen%100 == 0 && h.Clock.Now().After(end) {
			d.Ended = true
			return errEnough
		}
		if match, ok := matches(l, query, number, numeric); ok {
			d.Hits = append(d.Hits, hit{linkOf(l), titleOf(&l.Pair), match})
		}
		return nil
	})
	if errors.Is(err, errEnough) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// matches reports whether a pair, or a part of it, has the words; match is that part.
func matches(l *mapping.Link, query, number string, numeric bool) (match string, yes bool) {
	if has(titleOf(&l.Pair), query) || has(where(&l.Pair), query) {
		return "", true
	}
	if numeric && (strconv.FormatInt(l.Card.CID, 10) == number || strconv.Itoa(l.Issue.Number) == number) {
		return "", true
	}
	for _, p := range l.SubLinks {
		if title := titleOf(p); has(title, query) || has(where(p), query) || numeric && strconv.Itoa(p.Issue.Number) == number {
			return strings.TrimSpace(where(p) + " " + title), true
		}
	}
	for _, c := range l.Children {
		if has(c.Item, query) {
			return c.Item, true
		}
	}
	return "", false
}

// titleOf is the title that both sides last agreed on, as GitHub has it.
func titleOf(p *mapping.Pair) string { return p.Base[mapping.Title].GitHub }

// has reports whether a text has words, whatever their case.
func has(text, words string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(words))
}
