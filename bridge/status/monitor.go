package status

import (
	"context"
	"net/http"
	"strings"
	"time"

	"planbridge/mapping"
)

// Monitor reports what a running service observes, beside its store. All methods are safe for
// concurrent use.
type Monitor interface {
	// Health returns the last contact with each service, and the budgets for writes to GitHub.
	Health(ctx context.Context) (Health, error)
	// Recent lists the last activities, newest first, at most limit.
	Recent(ctx context.Context, limit int) ([]Activity, error)
}

// Health answers GET /api/v1/health.
type Health struct {
	Services []ServiceHealth `json:"services"` // GitHub first, then the projects by their names
	Budgets  []Budget        `json:"budgets"`  // remaining writes; empty: not known
	// Configuration has a sentence for each part of the configuration that does not work.
	Configuration []Fault `json:"configuration,omitempty"`
	// Drift counts the links that differed when they were last verified, by route.
	Drift map[string]int `json:"drift,omitempty"`
}

// Fault is a part of the configuration that does not work. Its JSON is its sentence.
type Fault struct {
	Says    string
	Service string // the service that refuses the secret, as in [store.Standing]; "": another fault
}

// MarshalText implements [encoding.TextMarshaler].
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.Says), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (f *Fault) UnmarshalText(text []byte) error { f.Says = string(text); return nil }

// The states of a service.
const (
	ServiceUp      = "up"
	ServiceDown    = "down"    // see ServiceHealth.Error
	ServiceLimited = "limited" // nothing is sent before ServiceHealth.Until
	ServiceRefused = "refused" // it does not take the token or the secret; see ServiceHealth.Error
	ServiceUnknown = "unknown" // it was not asked yet
)

// ServiceHealth is the result of the last contact with a service.
type ServiceHealth struct {
	Name     string    `json:"name"`              // github, or the project's name
	Service  string    `json:"-"`                 // as keys that wait name it
	Project  bool      `json:"project,omitempty"` // it is a planning project
	State    string    `json:"state"`             // up, down, limited, refused or unknown
	Until    time.Time `json:"until,omitzero"`    // of limited
	Answered time.Time `json:"answered,omitzero"` // the last time
	Error    string    `json:"error,omitempty"`   // the last one, which may be over
	Failed   time.Time `json:"failed,omitzero"`   // when that was
	// Failing are the operations that fail while the service answers others.
	Failing []FailingOperation `json:"failing,omitempty"`
	// Sources are the ways in which changes become known.
	Sources []Source `json:"sources"`
}

// FailingOperation is an operation of a service that failed several times in a row.
type FailingOperation struct {
	Operation string    `json:"operation"` // as the metrics name it
	Since     time.Time `json:"since"`
	Times     int       `json:"times"`
	Error     string    `json:"error"` // the last one
}

// The ways in which changes become known.
const (
	SourcePoll     = "poll"
	SourceCatchUp  = "catch-up"
	SourceDelivery = "delivery"
)

// StateSays is the state of a service for people.
func (s *ServiceHealth) StateSays() string {
	switch s.State {
	case ServiceUp:
		return "answers"
	case ServiceDown:
		return "does not answer"
	case ServiceLimited:
		return "asked for a pause"
	case ServiceRefused:
		return "refuses the " + s.credential()
	}
	return "not asked yet"
}

// credential names the credential of planbridge at the service.
func (s *ServiceHealth) credential() string {
	if s.Project {
		return "secret"
	}
	return "token"
}

// Source is one way in which changes become known.
type Source struct {
	What string    `json:"what"`        // poll, catch-up or delivery
	At   time.Time `json:"at,omitzero"` // the last success
	// Every is the interval of reads, in seconds; 0: the source pushes changes.
	Every float64 `json:"every_seconds,omitempty"`
	// Elsewhere: another replica reads it, and At is the last read of this one.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Budget is the remaining part of an allowance of writes to GitHub.
type Budget struct {
	Name   string `json:"name"`   // content (issues and comments) or edits
	Window string `json:"window"` // minute or hour
	Left   int    `json:"left"`
	Of     int    `json:"of"`
}

// Low is the limit below which a budget is short.
func (b Budget) Low() int { return b.Of / 5 }

// Activities answers GET /api/v1/activity, newest first.
type Activities struct {
	Activities []Activity `json:"activities"`
}

// Activity is a recent act. It has no text of an issue or a card.
type Activity struct {
	At        time.Time `json:"at"`
	Who       string    `json:"who,omitempty"` // a login, a username or an operator; "": not known
	Route     string    `json:"route"`
	Link      string    `json:"link"`           // id
	Where     string    `json:"where"`          // acme/web#12, or the card's id
	Task      bool      `json:"task,omitempty"` // its partner is a task, not a card
	Part      string    `json:"part,omitempty"` // checklist or tracking, where it is about a part of the pair
	Side      string    `json:"side,omitempty"` // where it was written
	Attribute string    `json:"attribute,omitempty"`
	What      string    `json:"what"`                   // as in a link's history
	Why       string    `json:"why,omitempty"`          // of a pair that has another route now
	Moved     bool      `json:"moved,omitempty"`        // its issue had another card before the one that was made
	Took      float64   `json:"took_seconds,omitempty"` // since the change was seen; 0: not known
}

// ActivityOf is a line of a link's history as an activity.
func ActivityOf(l *mapping.Link, e *mapping.Entry) Activity {
	a := Activity{
		At: e.At, Who: e.Who, Route: l.Route, Link: string(l.ID), Where: where(&l.Pair), Part: e.Part,
		Side: string(e.Side), Attribute: string(e.Attribute), What: e.What, Took: e.Took,
	}
	if strings.Contains(e.Part, "#") { // a sub-issue
		a.Where, a.Part, a.Task = e.Part, "", true
	}
	if e.What == mapping.Rerouted {
		a.Why = e.Why
	}
	a.Moved = l.Before != nil && e.What == "create" && e.Side == mapping.Planning && e.Part == ""
	return a
}

// The bounds of the list of activities.
const (
	fewActivities  = 50
	manyActivities = 1000
)

func (h *handler) health(w http.ResponseWriter, r *http.Request) {
	got, err := h.Monitor.Health(r.Context())
	h.answer(w, r, func() any { return got }, err)
}

func (h *handler) activity(w http.ResponseWriter, r *http.Request) {
	limit, err := limitOf(r, fewActivities, manyActivities)
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	got, err := h.Monitor.Recent(r.Context(), limit)
	h.answer(w, r, func() any { return Activities{append([]Activity{}, got...)} }, err)
}

// blind is the Monitor of a process that has only opened the store.
type blind struct{}

func (blind) Health(context.Context) (Health, error) {
	return Health{Services: []ServiceHealth{}, Budgets: []Budget{}}, nil
}

func (blind) Recent(context.Context, int) ([]Activity, error) { return nil, nil }
