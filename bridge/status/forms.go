package status

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// pageRoutes are the pages for people and the forms on them.
func (h *handler) pageRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", h.page)
	mux.HandleFunc("GET /waiting", h.waitingPage)
	mux.HandleFunc("GET /failures", h.failuresPage)
	mux.HandleFunc("GET /questions", h.questionsPage)
	mux.HandleFunc("GET /search", h.search)
	mux.HandleFunc("GET /explain", h.explain)
	mux.HandleFunc("GET /style.css", asset("text/css", styleCSS))
	mux.HandleFunc("GET /page.js", asset("text/javascript", pageJS))
	mux.HandleFunc("POST /failures/retry", h.retryForm)
	mux.HandleFunc("POST /conflicts/resolve", h.form(h.resolveForm))
	mux.HandleFunc("POST /conflicts/undo", h.form(h.undoForm))
	mux.HandleFunc("POST /routes/pause", h.form(h.routeForm("route paused", h.Operator.Pause)))
	mux.HandleFunc("POST /routes/resume", h.form(h.routeForm("route resumed", h.Operator.Resume)))
}

// form carries out a button's request and redirects to the button's page. An act that somebody else
// did meanwhile is no error there.
func (h *handler) form(do func(context.Context, url.Values) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			h.failPage(w, r, http.StatusBadRequest, err)
			return
		}
		err := do(r.Context(), r.PostForm)
		switch {
		case err == nil, errors.Is(err, store.ErrNotFound):
			http.Redirect(w, r, back(r.PostForm.Get("back")), http.StatusSeeOther) //nolint:gosec // back leads to six paths of this listener alone.
		case errors.Is(err, errForm):
			h.failPage(w, r, http.StatusBadRequest, err)
		case errors.Is(err, ErrState), errors.Is(err, store.ErrConflict):
			h.failPage(w, r, http.StatusConflict, err)
		default:
			h.Logger.Warn("answering an operator", "path", r.URL.Path, "err", err)
			h.failPage(w, r, http.StatusInternalServerError, err)
		}
	}
}

// errForm is a form that lacks something.
var errForm = errors.New("the form is not understood")

// back is the page that a form redirects to: a page of this listener alone.
func back(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !slices.Contains([]string{"/", "/waiting", "/failures", "/questions", "/search", "/explain"}, u.Path) {
		return "/"
	}
	return u.Path + strings.TrimSuffix("?"+u.RawQuery, "?")
}

// retryForm retries one failure, the failures of one reason, or all.
func (h *handler) retryForm(w http.ResponseWriter, r *http.Request) {
	h.form(func(ctx context.Context, form url.Values) error {
		if key := form.Get("key"); key != "" {
			_, err := h.retryFailures(ctx, key)
			return err
		}
		group := form.Get("group")
		if group == "" {
			return errForm
		}
		rows, err := h.failed(ctx)
		if err != nil {
			return err
		}
		taken, refused := 0, error(nil)
		for i := range rows {
			if rows[i].group() != group {
				continue
			}
			switch n, err := h.retryFailures(ctx, rows[i].Key); {
			case errors.Is(err, ErrState): // a project that the configuration does not name
				refused = err
			case err != nil && !errors.Is(err, store.ErrNotFound):
				return err
			default:
				taken += n
			}
		}
		if taken == 0 {
			return refused
		}
		return nil
	})(w, r)
}

// resolveForm answers a question.
func (h *handler) resolveForm(ctx context.Context, form url.Values) error {
	id, winner := form.Get("id"), mapping.Side(form.Get("winner"))
	if id == "" || winner != mapping.GitHub && winner != mapping.Planning {
		return errForm
	}
	return h.answerConflict(ctx, id, winner)
}

// undoForm requests an undo.
func (h *handler) undoForm(ctx context.Context, form url.Values) error {
	id := form.Get("id")
	if id == "" {
		return errForm
	}
	return h.undoConflict(ctx, id)
}

// routeForm carries out the request of a button beside a route.
func (h *handler) routeForm(what string, do func(context.Context, string) error) func(context.Context, url.Values) error {
	return func(ctx context.Context, form url.Values) error {
		route := form.Get("route")
		if route == "" {
			return errForm
		}
		err := do(ctx, route)
		if err == nil {
			h.Logger.Info(what, "route", route, "by", Actor(ctx))
		}
		return err
	}
}

// failPage is the page of a request that failed.
func (h *handler) failPage(w http.ResponseWriter, r *http.Request, status int, err error) {
	h.render(w, r, status, "error.html", struct {
		frame
		Says string
	}{h.frame("Not done", "/"), err.Error()})
}
