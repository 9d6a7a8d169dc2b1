package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"planbridge/mapping"
)

// ErrNoService answers a request that needs both services where only the store was opened.
var ErrNoService = errors.New("this needs a running service")

// Services answers requests that need both services, and not planbridge's store alone. All
// methods are safe for concurrent use.
type Services interface {
	// Import and Verify begin a job, or return the running one of the same request. The errors are
	// [ErrState] and [ErrName] as for Operator, [ErrStarting] before jobs can run.
	Import(ctx context.Context, ask ImportAsk) (Job, error)
	Verify(ctx context.Context, ask VerifyAsk) (Job, error)
	// Job wraps store.ErrNotFound where no job has that id.
	Job(ctx context.Context, id string) (Job, error)
	// DeleteComment deletes a comment on GitHub; one that is gone is no error.
	DeleteComment(ctx context.Context, repo string, id int64) error
	// Clean begins a job that takes pairs apart. It returns [ErrState] where the state of the
	// request's target does not allow it.
	Clean(ctx context.Context, ask CleanAsk) (Job, error)
	// Join links an issue (acme/web#12) and a card, by id, by hand.
	Join(ctx context.Context, issue, card string) (Link, error)
}

// ImportAsk is the body of POST /api/v1/import.
type ImportAsk struct {
	Route  string `json:"route,omitempty"` // "": all routes
	DryRun bool   `json:"dry_run,omitempty"`
	Match  string `json:"match,omitempty"` // "title": search for partners
	State  string `json:"state,omitempty"` // open (the default) or all
}

// VerifyAsk is the body of POST /api/v1/verify.
type VerifyAsk struct {
	Route  string `json:"route,omitempty"` // "": all routes
	Repair bool   `json:"repair,omitempty"`
}

// The states of a job.
const (
	JobRunning = "running"
	JobDone    = "done"
	JobFailed  = "failed" // see Error; a new request goes on where it ended
)

// Job is a long task of an operator. It is kept in memory, so that a restart loses it.
type Job struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"` // import, verify, clean or retention
	State string `json:"state"`
	Doing string `json:"doing,omitempty"` // its present step, for people
	// WaitsFor names the obstacles of keys: a service that is away, a route that is paused.
	WaitsFor []string `json:"waits_for,omitempty"`
	// Waits are the same, with the end of the wait, where that is known.
	Waits   []JobWait     `json:"waits,omitempty"`
	Error   string        `json:"error,omitempty"`
	Started time.Time     `json:"started"`
	Ended   time.Time     `json:"ended,omitzero"`
	Total   int           `json:"total"` // known items to handle
	Done    int           `json:"done"`  // of these, the handled ones
	Import  *ImportResult `json:"import,omitempty"`
	Verify  *VerifyResult `json:"verify,omitempty"`
	Clean   *CleanResult  `json:"clean,omitempty"`
}

// ImportResult counts what an import does, or would do.
type ImportResult struct {
	Route  string `json:"route,omitempty"`
	DryRun bool   `json:"dry_run"`
	Seen   int    `json:"seen"`  // checked issues
	Known  int    `json:"known"` // of these, those that have a link already
	// UnderWay are those of Known whose partner is being made; the import waits for them.
	UnderWay int `json:"under_way"`
	Out      int `json:"out"` // and those that no route takes
	// OutWhy counts them by the reason.
	OutWhy map[string]int `json:"out_why,omitempty"`
	// Found are pairs that the store lacks, and that are linked again by their markers.
	Found int `json:"found,omitempty"`
	// The others become:
	Cards     int `json:"cards"`     // issues that get a card
	Issues    int `json:"issues"`    // cards that get an issue
	Joined    int `json:"joined"`    // pairs that are joined
	Ambiguous int `json:"ambiguous"` // left alone: more than one partner has the title
	Children  int `json:"children"`  // sub-issues, which follow their parents
	// Their outcomes; all 0 in a dry run.
	Failed  int `json:"failed"`  // given up; failures shows why
	Handed  int `json:"handed"`  // sub-issues that their parents have now, as tasks of their cards
	Dropped int `json:"dropped"` // no longer wanted when their turn came
	// Labels are the issues that get labels which show their cards.
	Labels int `json:"labels"`
	// Forecast is how long the new issues and the labels take under GitHub's write budget, and
	// Bound the configuration key of that budget.
	Forecast float64      `json:"forecast_seconds"`
	Bound    string       `json:"bound,omitempty"`
	Items    []ImportItem `json:"items"` // of a dry run, and all items to report
	More     bool         `json:"more"`  // there are more items than are listed
}

// StaysOut counts an issue or a card that is not imported, and why.
func (r *ImportResult) StaysOut(why string) {
	if r.OutWhy == nil {
		r.OutWhy = map[string]int{}
	}
	r.Out++
	r.OutWhy[why]++
}

// ImportItem is one issue or card of an import.
type ImportItem struct {
	Where   string `json:"where"` // acme/web#12, or the card's id
	Title   string `json:"title,omitempty"`
	Route   string `json:"route,omitempty"`
	What    string `json:"what"` // card, issue, join, found, ambiguous, child, failed
	Partner string `json:"partner,omitempty"`
	Why     string `json:"why,omitempty"`
	// Differs lists the differences of the items of a pair that would be joined.
	Differs []ImportDifference `json:"differs,omitempty"`
}

// ImportDifference is an attribute in which a pair differs that would be joined.
type ImportDifference struct {
	Attribute string `json:"attribute"`
	GitHub    string `json:"github"`
	Planning  string `json:"planning"`
	// Wins is the side whose value would stand; both: they are merged; ask: people are
	// asked; restrained: the route's direction forbids the write.
	Wins string `json:"wins"`
	Why  string `json:"why"`
}

// Waits are the obstacles of a job's keys, in words, with their ends; zero: not known.
type Waits map[string]time.Time

// Add adds the obstacle of one key. Of several ends the earliest counts.
func (w Waits) Add(what string, until time.Time) {
	if was, known := w[what]; !known || until.Before(was) {
		w[what] = until
	}
}

// mostWaits bounds the reported reasons of a job's waiting.
const mostWaits = 5

// WaitFor records the job's present obstacles.
func (j *Job) WaitFor(w Waits) {
	j.WaitsFor, j.Waits = nil, nil
	for what, until := range mapping.Sorted(w) {
		if len(j.Waits) == mostWaits {
			return
		}
		j.WaitsFor, j.Waits = append(j.WaitsFor, what), append(j.Waits, JobWait{For: what, Until: until})
	}
}

// JobWait is an obstacle that a job waits for.
type JobWait struct {
	For   string    `json:"for"`
	Until time.Time `json:"until,omitzero"`
}

// VerifyResult is the result of a verification.
type VerifyResult struct {
	Route       string         `json:"route,omitempty"`
	Links       int            `json:"links"`       // compared
	Drift       map[string]int `json:"drift"`       // links that differ, by route
	Repaired    int            `json:"repaired"`    // of these, the repaired ones
	Differences []Difference   `json:"differences"` // those that stand
	More        bool           `json:"more"`        // there are more than listed
	// Uncompared are the links that are not compared, as they have no pair or no route:
	// dormant, entering and creating ones.
	Uncompared []Uncompared `json:"uncompared,omitempty"`
	// Unlisted are the repositories and globs that refuse to be listed.
	Unlisted []Unlisted `json:"unlisted,omitempty"`
}

// Unlisted is a repository or a glob that GitHub refuses to list.
type Unlisted struct {
	Repository string `json:"repository"`
	Route      string `json:"route"`
	Why        string `json:"why"`
}

// Uncompared are the links of one such state.
type Uncompared struct {
	State string   `json:"state"`
	Links int      `json:"links"`
	Items []string `json:"items"` // the first of them: acme/web#12, or the card's id
}

// Difference is an attribute in which the two sides of a link differ.
type Difference struct {
	Where     string `json:"where"`
	Link      string `json:"link"`
	Route     string `json:"route"`
	Attribute string `json:"attribute,omitempty"` // "": of the pair as a whole
	GitHub    string `json:"github,omitempty"`
	Planning  string `json:"planning,omitempty"`
	Why       string `json:"why"`
	// Held is the action of the decision, "ask" or "blocked", where the difference is not written.
	// A person is asked, or a side refused the value.
	Held string `json:"held,omitempty"`
}

// Join is the body of POST /api/v1/links/{issue}/link.
type Join struct {
	Card string `json:"card"`
}

func (h *handler) jobRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /api/v1/import", func(w http.ResponseWriter, r *http.Request) {
		var ask ImportAsk
		if h.asked(w, r, &ask) {
			job, err := h.Services.Import(r.Context(), ask)
			h.answer(w, r, func() any { return job }, err)
		}
	})
	mux.HandleFunc("POST /api/v1/verify", func(w http.ResponseWriter, r *http.Request) {
		var ask VerifyAsk
		if h.asked(w, r, &ask) {
			job, err := h.Services.Verify(r.Context(), ask)
			h.answer(w, r, func() any { return job }, err)
		}
	})
	mux.HandleFunc("POST /api/v1/clean", func(w http.ResponseWriter, r *http.Request) {
		var ask CleanAsk
		if h.asked(w, r, &ask) {
			job, err := h.Services.Clean(r.Context(), ask)
			h.answer(w, r, func() any { return job }, err)
		}
	})
	mux.HandleFunc("GET /api/v1/jobs/{id}", func(w http.ResponseWriter, r *http.Request) {
		if h.Services == nil {
			h.fail(w, r, fmt.Errorf("job: %w", ErrNoService))
			return
		}
		job, err := h.Services.Job(r.Context(), r.PathValue("id"))
		h.answer(w, r, func() any { return job }, err)
	})
	mux.HandleFunc("POST /api/v1/links/{key}/link", func(w http.ResponseWriter, r *http.Request) {
		var ask Join
		if h.asked(w, r, &ask) {
			link, err := h.Services.Join(r.Context(), r.PathValue("key"), ask.Card)
			h.answer(w, r, func() any { return link }, err)
		}
	})
}

// asked reads the body of a request that needs the services. It answers a request that is
// impossible.
func (h *handler) asked(w http.ResponseWriter, r *http.Request, ask any) bool {
	if h.Services == nil {
		h.fail(w, r, ErrNoService)
		return false
	}
	return decodeBody(w, r, ask)
}

// decodeBody reads the body of a request, and answers an invalid one.
func decodeBody(w http.ResponseWriter, r *http.Request, ask any) bool {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(ask); err != nil && !errors.Is(err, io.EOF) {
		writeError(w, http.StatusBadRequest, fmt.Errorf("the body is not understood: %w", err))
		return false
	}
	return true
}
