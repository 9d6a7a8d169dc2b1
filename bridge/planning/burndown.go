package planning

import (
	"context"
	"time"

	"github.com/goccy/go-json"

	"planbridge/mapping"
)

// Burndown is the burndown chart of a sprint (docs/planning-api.md 2.7), in hours.
type Burndown struct {
	ID               mapping.ObjectID
	When, Start, End time.Time
	NumDays          int
	OriginalEstimate float64
	Remaining        []float64 // one a day, as far as known
	Items            []BurndownItem
}

// BurndownItem is one item's share of a [Burndown].
type BurndownItem struct {
	CID              int64
	Title            string
	OriginalEstimate float64
	Remaining        []float64 // one a day, as far as known
}

type wireBurndown struct {
	ID       oid     `json:"_id"`
	When     stamp   `json:"when"`
	Start    stamp   `json:"startDate"`
	End      stamp   `json:"endDate"`
	NumDays  integer `json:"numDays"`
	Estimate number  `json:"originalEstimate"`
	Days     days    `json:"timeRemaining"`
	Items    []struct {
		CID      integer `json:"cid"`
		Title    text    `json:"title"`
		Estimate number  `json:"originalEstimate"`
		Days     days    `json:"timeRemaining"`
	} `json:"items"`
}

// days are numbers, one a day. A day without one repeats the day before. At the end such days are
// in the future and are cut.
type days []float64

func (d *days) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		return nil
	}
	var numbers []number
	if err := json.Unmarshal(raw, &numbers); err != nil {
		return err
	}
	for len(numbers) > 0 && numbers[len(numbers)-1] == "" {
		numbers = numbers[:len(numbers)-1]
	}
	last := 0.0
	for _, n := range numbers {
		if n != "" {
			last = n.float()
		}
		*d = append(*d, last)
	}
	return nil
}

func (w *wireBurndown) burndown() (Burndown, error) {
	b := Burndown{
		ID: mapping.ObjectID(w.ID), When: time.Time(w.When), Start: time.Time(w.Start), End: time.Time(w.End),
		NumDays: int(w.NumDays), OriginalEstimate: w.Estimate.float(), Remaining: w.Days,
	}
	for _, i := range w.Items {
		b.Items = append(b.Items, BurndownItem{
			CID: int64(i.CID), Title: string(i.Title), OriginalEstimate: i.Estimate.float(), Remaining: i.Days,
		})
	}
	return b, nil
}

// Burndown reads a sprint's burndown chart (endpoint 10).
func (c *Client) Burndown(ctx context.Context, sprint mapping.ObjectID) (Burndown, error) {
	k := c.read("burndown.get", "read burndown of sprint "+string(sprint), "iterations", sprint, "burndown-chart")
	return get(ctx, c, k, (*wireBurndown).burndown)
}
