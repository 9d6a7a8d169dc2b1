package status

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"planbridge/mapping"
)

// Burndowns answers GET /api/v1/burndown: by project, active sprints first.
type Burndowns struct {
	Sprints []Burndown `json:"sprints"`
}

// Burndown is how many hours of work were left in a sprint, by day.
type Burndown struct {
	Project   string    `json:"project"` // name
	Sprint    string    `json:"sprint"`  // id
	Title     string    `json:"title"`
	Active    bool      `json:"active"`
	Read      time.Time `json:"read"` // when planning was last asked
	Start     time.Time `json:"start,omitzero"`
	End       time.Time `json:"end,omitzero"`
	Days      int       `json:"days"`
	Original  float64   `json:"original_hours"`
	Remaining []float64 `json:"remaining_hours"` // at the end of each day
	Now       float64   `json:"remaining_now_hours"`
}

// burndown shows the charts of the sprints.
func (h *handler) burndown(w http.ResponseWriter, r *http.Request) {
	projects, err := h.Operator.Burndowns(r.Context())
	h.answer(w, r, func() any { return Burndowns{burndownsOf(projects, h.Clock.Now())} }, err)
}

func burndownsOf(projects map[string][]mapping.Burndown, now time.Time) []Burndown {
	out := []Burndown{}
	for _, name := range slices.Sorted(maps.Keys(projects)) {
		for _, b := range projects[name] {
			out = append(out, Burndown{
				Project: name, Sprint: string(b.Sprint), Title: b.Title, Active: b.Active, Read: b.Read, Start: b.Start, End: b.End,
				Days: b.Days, Original: b.Original, Remaining: append([]float64{}, b.Remaining...), Now: b.Now(now),
			})
		}
	}
	return out
}
