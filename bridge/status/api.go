package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// MaxLinks is how many links a list holds at most.
const MaxLinks = 1_000_000

// How much an answer holds where it is not asked for more, and at most.
const (
	fewLinks                    = 1000
	fewConflicts, manyConflicts = 100, 10_000
	maxHistory                  = 1000
)

// links streams the list, so that its length needs no memory. An error after the first link
// can no longer be the answer's status: the end of the list has it.
func (h *handler) links(w http.ResponseWriter, r *http.Request) {
	limit, err := limitOf(r, fewLinks, MaxLinks)
	state := mapping.LinkState(r.FormValue("state"))
	if state != "" && !slices.Contains(mapping.LinkStates, state) {
		err = fmt.Errorf("state %q is none of %v", state, mapping.LinkStates)
	}
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	paused, err := h.Operator.Paused(r.Context())
	if err != nil {
		h.fail(w, r, err)
		return
	}
	n, end := 0, ListEnd{}
	enc := json.NewEncoder(w)
	err = h.Operator.Links(r.Context(), r.FormValue("route"), func(l *mapping.Link) error {
		if state != "" && l.State != state {
			return nil
		}
		if n == limit {
			end.More = true
			return errEnough
		}
		separator := ","
		if n++; n == 1 {
			w.Header().Set("Content-Type", contentJSON)
			separator = `{"links":[`
		}
		if _, err := io.WriteString(w, separator); err != nil {
			return err
		}
		link := linkOf(l)
		_, link.Paused = paused[l.Route]
		return enc.Encode(link)
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	switch {
	case n == 0 && err != nil:
		h.fail(w, r, err)
		return
	case n == 0:
		writeJSON(w, http.StatusOK, Links{Links: []Link{}})
		return
	case err != nil:
		h.Logger.Warn("listing links", "err", err)
		end.Error = err.Error()
	}
	tail, _ := json.Marshal(end) // two plain values
	// A caller who has left needs no answer.
	_, _ = fmt.Fprintf(w, "],%s\n", tail[len("{"):])
}

// errEnough ends a visit at the limit.
var errEnough = errors.New("enough")

func (h *handler) link(w http.ResponseWriter, r *http.Request) {
	detail, err := h.detail(r.Context(), r.PathValue("key"))
	h.answer(w, r, func() any { return detail }, err)
}

// detail returns everything about an item, by one of its names. A transferred issue is found by its
// former name, which GitHub redirects.
func (h *handler) detail(ctx context.Context, name string) (*LinkDetail, error) {
	d, err := h.current(ctx, name)
	if moved := (*mapping.MovedError)(nil); errors.As(err, &moved) && moved.Known() {
		if d, err = h.current(ctx, moved.Place()); err == nil {
			d.Was = strings.TrimSpace(name)
		}
	}
	return d, err
}

// current returns everything about an item by its present name. For an issue or a card without a
// link, it is the reason why.
func (h *handler) current(ctx context.Context, name string) (*LinkDetail, error) {
	item, err := ParseItem(name)
	if err != nil {
		return nil, err
	}
	l, err := h.Operator.FindNumbered(ctx, item.Name)
	if errors.Is(err, store.ErrNotFound) {
		out, err := h.Operator.Outside(ctx, item.Name)
		return &LinkDetail{Outside: out}, err
	}
	if item.CID != 0 {
		err = h.alone(ctx, l, item, err)
	}
	if err != nil {
		return nil, err
	}
	history, err := h.Operator.History(ctx, l, maxHistory)
	if err != nil {
		return nil, err
	}
	// The record of a link is worth showing without its next step.
	now, unread := h.Operator.Preview(ctx, l)
	name, named := h.Operator.ProjectName(l.Project)
	if !named {
		l.WithoutProject()
	}
	detail := detailOf(l, history, now)
	detail.Part, detail.Link.ProjectName = partOf(&detail, l, item), name
	if unread != nil {
		detail.NowError = unread.Error()
	}
	at, err := h.Operator.Standing(ctx, l)
	if err != nil {
		return nil, err
	}
	queue := h.standingOf(&at)
	detail.Queue = &queue
	paused, err := h.Operator.Paused(ctx)
	_, detail.Link.Paused = paused[l.Route]
	if err != nil {
		return nil, err
	}
	return &detail, nil
}

// alone fails where the number of a link's item is also that of a card without a link. The argument
// err is the result of the search among the links. A service that is away does not hide a link of
// the store.
func (h *handler) alone(ctx context.Context, l *mapping.Link, item Item, err error) error {
	linked := namesOf(err)
	if err != nil && linked == nil {
		return err
	}
	out, lone := h.Operator.Outside(ctx, item.Name)
	others := namesOf(lone)
	if lone == nil && out.Card != nil {
		others = []string{out.Called()}
	}
	if len(others) == 0 {
		return err
	}
	if err == nil {
		for _, p := range l.All() {
			if item.Numbers(p) {
				linked = append(linked, item.Called(l, p))
			}
		}
	}
	return Ambiguous(item.Name, append(linked, others...)...)
}

func (h *handler) failures(w http.ResponseWriter, r *http.Request) {
	fs, err := h.Operator.Failures(r.Context())
	h.answer(w, r, func() any { return Failures{each(fs, failureOf)} }, err)
}

func (h *handler) retry(w http.ResponseWriter, r *http.Request) {
	var ask Retry
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&ask); err != nil || ask.Key == "" {
		writeError(w, http.StatusBadRequest, errors.New(`expected {"key": "…"}: a failure's key or where, a link's id, or "all"`))
		return
	}
	n, err := h.retryFailures(r.Context(), ask.Key)
	h.answer(w, r, func() any { return Retried{n} }, err)
}

// retryFailures retries failures, and logs who asked for it.
func (h *handler) retryFailures(ctx context.Context, key string) (int, error) {
	n, err := h.Operator.Retry(ctx, key)
	if err == nil {
		h.Logger.Info("failures taken up again", "by", Actor(ctx), "key", key, "count", n)
	}
	return n, err
}

func (h *handler) conflicts(w http.ResponseWriter, r *http.Request) {
	limit, err := limitOf(r, fewConflicts, manyConflicts)
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	cs, err := h.Operator.Conflicts(r.Context(), limit)
	h.answer(w, r, func() any { return Conflicts{each(cs, conflictOf)} }, err)
}

// resolve answers an open question.
func (h *handler) resolve(w http.ResponseWriter, r *http.Request) {
	var ask Resolve
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	winner := func() mapping.Side { return mapping.Side(ask.Winner) }
	if err := dec.Decode(&ask); err != nil || winner() != mapping.GitHub && winner() != mapping.Planning {
		writeError(w, http.StatusBadRequest, errors.New(`expected {"winner": "planning"} or {"winner": "github"}`))
		return
	}
	id := r.PathValue("id")
	h.answer(w, r, func() any { return Accepted{id} }, h.answerConflict(r.Context(), id, winner()))
}

// answerConflict answers an open question, and logs it.
func (h *handler) answerConflict(ctx context.Context, id string, winner mapping.Side) error {
	err := h.Operator.ResolveConflict(ctx, id, winner)
	if err == nil {
		h.Logger.Info("conflict answered", "by", Actor(ctx), "conflict", id, "winner", string(winner))
	}
	return err
}

// undo requests that the loser of a settled conflict is written back.
func (h *handler) undo(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	h.answer(w, r, func() any { return Accepted{id} }, h.undoConflict(r.Context(), id))
}

// undoConflict requests an undo, and logs it.
func (h *handler) undoConflict(ctx context.Context, id string) error {
	err := h.Operator.UndoConflict(ctx, id)
	if err == nil {
		h.Logger.Info("conflict to be undone", "by", Actor(ctx), "conflict", id)
	}
	return err
}

// act carries out an operator's request about the item in the path, and logs it.
func (h *handler) act(what, on string, do func(context.Context, string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := r.PathValue("key")
		err := do(r.Context(), key)
		if err == nil {
			h.Logger.Info(what, on, key, "by", Actor(r.Context()))
		}
		h.answer(w, r, func() any { return Accepted{key} }, err)
	}
}

// rebuild requests a rebuild of the links from their markers.
func (h *handler) rebuild(w http.ResponseWriter, r *http.Request) {
	err := h.Operator.Rebuild(r.Context())
	if err == nil {
		h.Logger.Warn("an operator has everything that is marked looked at again", "by", Actor(r.Context()))
	}
	h.answer(w, r, func() any { return Accepted{"rebuild"} }, err)
}

func (h *handler) overview(w http.ResponseWriter, r *http.Request) {
	o, err := h.collectOverview(r.Context())
	h.answer(w, r, func() any { return o }, err)
}

func (h *handler) version(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, func() any { return Version{h.Version} }, nil)
}

// limitOf reads the limit of a list.
func limitOf(r *http.Request, few, many int) (int, error) {
	text := r.FormValue("limit")
	if text == "" {
		return few, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > many {
		return 0, fmt.Errorf("limit %q is no number from 1 to %d", text, many)
	}
	return n, nil
}

const contentJSON = "application/json; charset=utf-8"

// answer writes the result of shape, or the error.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, shape func() any, err error) {
	if err != nil {
		h.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, shape())
}

// fail writes the error with the status that fits it.
func (h *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, store.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, ErrName):
		status = http.StatusBadRequest
	case errors.Is(err, ErrState), errors.Is(err, ErrNoService), errors.Is(err, store.ErrConflict):
		status = http.StatusConflict
	case errors.Is(err, ErrStarting):
		status = http.StatusServiceUnavailable
	case errors.Is(err, ErrAway):
		status = http.StatusBadGateway
	case r.Context().Err() != nil:
		status = http.StatusGatewayTimeout
	}
	if status >= http.StatusInternalServerError && !errors.Is(err, ErrStarting) && !errors.Is(err, ErrAway) {
		h.Logger.Warn("answering an operator", "path", r.URL.Path, "err", err)
	}
	writeError(w, status, err)
}

func writeError(w http.ResponseWriter, status int, err error) {
	writeJSON(w, status, Failed{err.Error()})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", contentJSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a caller who has left needs no answer
}
