package status

import (
	"net/http"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// Queue answers GET /api/v1/queue: keys that are in the queue and not due. Those that wait
// for a service come first, then the others, latest due first.
type Queue struct {
	Keys []Standing `json:"keys"`
}

// Standing is the state of a link's key in the queue, and why it is not worked.
type Standing struct {
	Key   string `json:"key"` // project/link
	Route string `json:"route"`
	Where string `json:"where"`
	// State is resting (not in the queue), due, worked, later, waiting, parked or dormant. It is
	// dormant where planning.projects does not name its project, so that nobody works it.
	State string `json:"state"`
	// At is, by the state: due since; the end of the lease; when it is due; waiting
	// since; parked since.
	At      time.Time `json:"at,omitzero"`
	Service string    `json:"service,omitempty"` // that it waits for
	// WaitsFor is the service in words.
	WaitsFor string `json:"waits_for,omitempty"`
	Reason   string `json:"reason,omitempty"` // of later, waiting, parked and dormant
	Attempts int    `json:"attempts"`         // that failed since the last success
	Worker   string `json:"worker,omitempty"` // the process that answers, where it holds the lease
}

// The bounds of the list of keys that are not due.
const (
	fewKeys  = 50
	manyKeys = 10_000
)

func (h *handler) queue(w http.ResponseWriter, r *http.Request) {
	limit, err := limitOf(r, fewKeys, manyKeys)
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	all, err := h.Operator.Standings(r.Context(), limit)
	h.answer(w, r, func() any { return Queue{each(all, h.standingOf)} }, err)
}

func (h *handler) standingOf(at *store.Standing) Standing {
	out := Standing{
		Key: at.Key.String(), Route: at.Route, Where: at.Where, State: string(at.State), At: at.At,
		Service: at.Service, Reason: at.Reason, Attempts: at.Attempts,
	}
	if at.Service != "" {
		out.WaitsFor = h.Operator.ServiceWords(at.Service)
	}
	if at.State == store.KeyWorked {
		out.Worker = h.Operator.Worker(at.Key)
	}
	if _, named := h.Operator.ProjectName(at.Key.Project); !named && at.State != store.KeyResting {
		out.State, out.At, out.Service, out.WaitsFor, out.Worker = string(mapping.Dormant), time.Time{}, "", "", ""
		out.Reason = mapping.WhyWithoutProject(at.Key.Project)
	}
	return out
}
