package status

import (
	"net/http"
	"net/url"
	"strconv"
)

// listRows is how many rows a page of a list has.
const listRows = 200

// listData is the data of the template for a list of keys.
type listData struct {
	frame
	Failures    bool   // else waiting keys
	Group       *group // the keys of one reason; nil: all keys
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

// questionRows is how many open questions a page has: each shows two texts.
const questionRows = 20

// questionsData is the data of the template for the open questions.
type questionsData struct {
	frame
	Questions   []question
	From, Total int
	Next, Prev  string
}

// First is the number of the first question that is shown.
func (d *questionsData) First() int { return d.From + 1 }

// Last is the number of the last question that is shown.
func (d *questionsData) Last() int { return d.From + len(d.Questions) }

// questionsPage lists every open question, the newest first.
func (h *handler) questionsPage(w http.ResponseWriter, r *http.Request) {
	d := questionsData{frame: h.frame("Open questions", "/questions"), From: fromOf(r)}
	open, counts, err := h.Operator.Questions(r.Context(), "", d.From+questionRows)
	if err != nil {
		h.Logger.Warn("answering an operator", "path", r.URL.Path, "err", err)
		h.failPage(w, r, http.StatusInternalServerError, err)
		return
	}
	for _, n := range counts {
		d.Total += n
	}
	if d.From >= len(open) {
		d.From = 0
	}
	d.Questions = each(open[d.From:min(d.From+questionRows, len(open))], questionOf)
	d.Next, d.Prev = neighbours(d.From, questionRows, d.Total, func(from int) string {
		return "/questions?" + url.Values{"from": {strconv.Itoa(from)}}.Encode()
	})
	if d.From > 0 {
		d.Here = "/questions?" + url.Values{"from": {strconv.Itoa(d.From)}}.Encode()
	}
	h.render(w, r, http.StatusOK, "questions.html", &d)
}

// maxFrom bounds where a page of a list may begin.
const maxFrom = 100_000

// fromOf is where a page of a list begins.
func fromOf(r *http.Request) int {
	from, err := strconv.Atoi(r.FormValue("from"))
	if err != nil || from < 0 || from > maxFrom {
		return 0
	}
	return from
}

// neighbours are the pages of a list after and before the one that begins at from; "": there is none.
func neighbours(from, rows, total int, page func(from int) string) (next, prev string) {
	if from+rows < total {
		next = page(from + rows)
	}
	if from > 0 {
		prev = page(max(0, from-rows))
	}
	return next, prev
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
	from := fromOf(r)
	if from >= len(rows) {
		from = 0
	}
	d.From, d.Total = from, len(rows)
	d.Rows = rows[from:min(from+listRows, len(rows))]
	d.Next, d.Prev = neighbours(from, listRows, len(rows), func(from int) string {
		return r.URL.Path + "?" + url.Values{"group": {id}, "from": {strconv.Itoa(from)}}.Encode()
	})
	h.render(w, r, http.StatusOK, "list.html", &d)
}

// First is the number of the first row that is shown.
func (d *listData) First() int { return d.From + 1 }

// Last is the number of the last row that is shown.
func (d *listData) Last() int { return d.From + len(d.Rows) }
