package mapping

import "time"

// Burndown has the hours of work that were left in a sprint, by day (docs/planning-api.md 2.7).
type Burndown struct {
	Sprint   ObjectID  `json:"sprint"` // id
	Title    string    `json:"title"`
	Active   bool      `json:"active"` // as of Read
	Read     time.Time `json:"read"`
	Start    time.Time `json:"start,omitzero"`
	End      time.Time `json:"end,omitzero"`
	Days     int       `json:"days"`
	Original float64   `json:"original"` // hours that were planned
	// Remaining are the hours left at the end of each day that the service reports. It may report
	// days to come as well.
	Remaining []float64 `json:"remaining"`
}

// Now is the number of hours left at a moment: those of that day of the sprint, or of the last day
// with a report.
func (b *Burndown) Now(at time.Time) float64 {
	if len(b.Remaining) == 0 {
		return b.Original
	}
	day := int(at.Sub(b.Start) / (24 * time.Hour)) // without a start, the last one
	return b.Remaining[min(max(0, day), len(b.Remaining)-1)]
}
