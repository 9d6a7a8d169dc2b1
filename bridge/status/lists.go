package status

import (
	"net/http"
	"net/url"
	"strconv"
)

// listRows is how many rows a page of a list has.
const listRows = 200

// listData is what the template of a list of keys gets.
type listData struct {
	frame
	Failures    bool   // else keys that wait
	Group       *group // those of one reason alone; nil: all
	Rows        []row
	From, Total int
	AtLeast     bool // there may be more than Total
	Next, Prev  string
}

// waitingPage lists every key that waits, with its reason and its time.
func (h *handler) waitingPage(w http.ResponseWriter, r *http.Request) {
	rows, err := h.waiting(r.Context())
	h.listPage(w, r, listData{frame: h.frame("Waiting", "/waiting"), AtLeast: len(rows) == manyKeys}, rows, err)
}

// failuresPage lists every key that was given up.
func (h *handler) failuresPage(w http.ResponseWriter, r *http.Request) {
	rows, err := h.failed(r.Context())
	h.listPage(w, r, listData{frame: h.frame("Failures", "/failures"), Failures: true}, rows, err)
}

// listPage shows a part of a list: of all, or of one reason.
func (h *handler) listPage(w http.ResponseWriter, r *http.Request, d listData, rows []row, err error) {
	if err != nil {
		h.Logger.Warn("answering an operator", "path", r.URL.Path, "err", err)
		h.failPage(w, r, http.StatusInternalServerError, err)
		return
	}
	id := r.FormValue("group")
	if id != "" {
		var of []row
		for i := range rows {
			if rows[i].group() == id {
				of = append(of, rows[i])
			}
		}
		if rows = of; len(of) > 0 {
			d.Group = &grouped(of)[0]
		}
	}
	from, err := strconv.Atoi(r.FormValue("from"))
	if err != nil || from < 0 || from >= len(rows) {
		from = 0
	}
	d.From, d.Total = from, len(rows)
	d.Rows = rows[from:min(from+listRows, len(rows))]
	page := func(from int) string {
		return r.URL.Path + "?" + url.Values{"group": {id}, "from": {strconv.Itoa(from)}}.Encode()
	}
	if from+listRows < len(rows) {
		d.Next = page(from + listRows)
	}
	if from > 0 {
		d.Prev = page(max(0, from-listRows))
	}
	h.render(w, r, http.StatusOK, "list.html", &d)
}

// Last is the number of the last row that is shown.
func (d *listData) Last() int { return d.From + len(d.Rows) }
