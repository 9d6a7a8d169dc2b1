package status

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The chart's size, in the units of its drawing.
const chartWidth, chartHeight = 240.0, 72.0

// chart is the drawing of a sprint: the planned hours at the left, then the hours left at the end
// of each day.
type chart struct {
	Burndown
	Line  string // hours left, up to today
	Told  string // hours that planning reports for the days to come; "": none
	Even  string // an even way from all hours to none
	Today float64
	Shown bool // today lies within the sprint
	Ends  string
}

// chartOf draws a sprint at a moment.
func chartOf(b Burndown, now time.Time) chart {
	hours := append([]float64{b.Original}, b.Remaining...)
	days := max(b.Days, len(b.Remaining), 1)
	c := chart{Burndown: b}
	today := float64(len(hours) - 1)
	if !b.Start.IsZero() {
		today = now.Sub(b.Start).Hours() / 24
		c.Shown = today >= 0 && today <= float64(days)
	}
	top := max(slices.Max(hours), 1)
	at := func(day float64) float64 { return chartWidth * day / float64(days) }
	point := func(day float64, left float64) string {
		return fmt.Sprintf("%.1f,%.1f", at(day), chartHeight*(1-left/top))
	}
	known := min(len(hours)-1, max(0, int(today)+1)) // the end of today is the last that is known
	var line, told []string
	for i, left := range hours {
		if i <= known {
			line = append(line, point(float64(i), left))
		}
		if i >= known {
			told = append(told, point(float64(i), left))
		}
	}
	c.Line, c.Even, c.Today = strings.Join(line, " "), point(0, b.Original)+" "+point(float64(days), 0), at(min(max(today, 0), float64(days)))
	if len(told) > 1 {
		c.Told = strings.Join(told, " ")
	}
	if !b.End.IsZero() {
		c.Ends = b.End.Format(time.DateOnly)
	}
	return c
}

// TodayAt is today's position as a number of the drawing.
func (c *chart) TodayAt() string { return fmt.Sprintf("%.1f", c.Today) }

// Anchor keeps the word at today's position inside the drawing.
func (c *chart) Anchor() string {
	const margin = chartWidth / 12
	switch {
	case c.Today < margin:
		return "start"
	case c.Today > chartWidth-margin:
		return "end"
	}
	return "middle"
}

// Day says which day of the sprint it is.
func (c *chart) Day() string {
	if !c.Shown {
		return ""
	}
	days := max(c.Days, len(c.Remaining), 1)
	return fmt.Sprintf("day %d of %d", min(int(c.Today/chartWidth*float64(days))+1, days), days)
}

// charts are those of the active sprints.
func charts(all []Burndown, now time.Time) []chart {
	var out []chart
	for _, b := range all {
		if b.Active {
			out = append(out, chartOf(b, now))
		}
	}
	return out
}
