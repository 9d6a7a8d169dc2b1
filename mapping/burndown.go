package mapping

import "time"

// Burndown is how many hours of work were left in a sprint, by day
// (docs/planning-api.md 2.7).
type Burndown struct {
	Sprint   ObjectID  `json:"sprint"` // id
	Title    string    `json:"title"`
	Active   bool      `json:"active"` // as of Read
	Read     time.Time `json:"read"`
	Start    time.Time `json:"start,omitzero"`
	End      time.Time `json:"end,omitzero"`
	Days     int       `json:"days"`
	Original float64   `json:"original"` // hours that were planned
	// Remaining are the hours left at the end of each day, as far as the
	// service tells; it may tell of days to come as well.
	Remaining []float64 `json:"remaining"`
}

// Now is the number of hours that are left at a moment: what the service tells
// of that day of the sprint, or of the last one it tells of.
func (b *Burndown) Now(at time.Time) float64 {
	if len(b.Remaining) == 0 {
		return b.Original
	}
	day := int(at.Sub(b.Start) / (24 * time.Hour)) // without a start, the last one
	return b.Remaining[min(max(0, day), len(b.Remaining)-1)]
}
