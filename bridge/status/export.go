package status

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

const pathExport = "/api/v1/export"

// The kinds of exports.
const (
	ExportLinks     = "links"
	ExportHistory   = "history"
	ExportConflicts = "conflicts"
)

// ExportAsk is the body of POST /api/v1/export.
type ExportAsk struct {
	What    string `json:"what"`              // one of the ExportXxx constants
	Route   string `json:"route,omitempty"`   // "": all
	Project string `json:"project,omitempty"` // a configured name or an id; "": all
}

// ExportedLink is one pair: a root link, or a pair that hangs on one.
type ExportedLink struct {
	Project    string    `json:"project"`
	Route      string    `json:"route"`
	Link       string    `json:"link"`
	Kind       string    `json:"kind"` // root, sub_issue, checklist or tracking
	State      string    `json:"state"`
	Repository string    `json:"repository,omitempty"`
	Number     int       `json:"number,omitempty"`
	IssueID    int64     `json:"issue_id,omitempty"`
	Card       string    `json:"card,omitempty"` // of the root
	CardNumber int64     `json:"card_number,omitempty"`
	Task       string    `json:"task,omitempty"`
	Line       string    `json:"line,omitempty"` // of a checklist
	Bucket     string    `json:"bucket,omitempty"`
	Origin     string    `json:"origin,omitempty"`
	Created    time.Time `json:"created,omitzero"`
	Synced     time.Time `json:"synced,omitzero"`
	Why        string    `json:"why,omitempty"`
}

// ExportedEntry is one line of a link's history.
type ExportedEntry struct {
	Project   string    `json:"project"`
	Route     string    `json:"route"`
	Link      string    `json:"link"`
	Where     string    `json:"where"`
	At        time.Time `json:"at"`
	What      string    `json:"what"`
	Attribute string    `json:"attribute,omitempty"`
	Side      string    `json:"side,omitempty"`
	Part      string    `json:"part,omitempty"`
	Who       string    `json:"who,omitempty"`
	Took      float64   `json:"took_seconds,omitempty"`
	Why       string    `json:"why,omitempty"`
	Delivery  string    `json:"delivery,omitempty"`
}

// ExportedConflict is one entry of the conflict ledger.
type ExportedConflict struct {
	Project      string    `json:"project"`
	Route        string    `json:"route"`
	Link         string    `json:"link"`
	Where        string    `json:"where"`
	ID           string    `json:"id"`
	Attribute    string    `json:"attribute"`
	State        string    `json:"state"`
	At           time.Time `json:"at"`
	Settled      time.Time `json:"settled,omitzero"`
	Winner       string    `json:"winner,omitempty"`
	Rule         string    `json:"rule,omitempty"`
	BaseGitHub   string    `json:"base_github,omitempty"`
	BasePlanning string    `json:"base_planning,omitempty"`
	GitHub       string    `json:"github,omitempty"`
	Planning     string    `json:"planning,omitempty"`
}

// exported are the rows of each kind of export.
var exported = map[string]any{ExportLinks: ExportedLink{}, ExportHistory: ExportedEntry{}, ExportConflicts: ExportedConflict{}}

// ExportColumns lists the columns of an export, in their order; nil: there is no such one.
func ExportColumns(what string) []string {
	row, ok := exported[what]
	if !ok {
		return nil
	}
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(row)) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// ExportEnd is the last line of an export. An export without it was cut off.
type ExportEnd struct {
	End   bool   `json:"end"` // always true; no row has it
	Rows  int    `json:"rows"`
	Error string `json:"error,omitempty"` // the error that ended it early
}

// export answers with JSON lines: one for each row, then an [ExportEnd]. It is a POST as a backup
// is, and lasts as long as its client reads.
func (h *handler) export(w http.ResponseWriter, r *http.Request) {
	var ask ExportAsk
	if !decodeBody(w, r, &ask) {
		return
	}
	if ExportColumns(ask.What) == nil {
		writeError(w, http.StatusBadRequest, fmt.Errorf("export %q, expected links, history or conflicts", ask.What))
		return
	}
	if !h.dumping.TryLock() {
		h.fail(w, r, errDumping("export"))
		return
	}
	defer h.dumping.Unlock()
	out := &patient{w: w, control: http.NewResponseController(w), kind: "application/jsonl; charset=utf-8"}
	buf := bufio.NewWriterSize(out, 64<<10)
	enc, end := json.NewEncoder(buf), ExportEnd{End: true}
	enc.SetEscapeHTML(false)
	err := h.Operator.Export(r.Context(), ask, func(row any) error {
		end.Rows++
		return enc.Encode(row)
	})
	if err != nil && end.Rows == 0 {
		h.fail(w, r, err)
		return
	}
	if err != nil {
		end.Error = err.Error()
		h.Logger.Warn("export given up", "what", ask.What, "rows", end.Rows, "err", err)
	}
	// A client who has left needs no answer.
	_ = errors.Join(enc.Encode(end), buf.Flush(), out.extend())
}

// unbounded are the paths whose answers last as long as their clients read.
var unbounded = []string{pathBackup, pathExport}

func isUnbounded(r *http.Request) bool { return slices.Contains(unbounded, r.URL.Path) }
