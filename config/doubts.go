package config

import (
	"fmt"
	"strings"
)

// Doubt is a valid value that is probably a mistake.
type Doubt struct {
	Path   string // the key
	Reason string // its effect, and the value to set
}

const (
	// writePoints is the number of points that GitHub counts for a write.
	writePoints = 5
	// publicPoints is how many points a minute GitHub itself allows.
	publicPoints = 900
	publicAPI    = "https://api.github.com"
)

// Doubts lists the doubts about the configuration.
func (c *Config) Doubts() []Doubt {
	g := &c.GitHub
	cost := writePoints * (g.WritesPerMinute + g.EditsPerMinute)
	public, named := strings.EqualFold(g.APIURL, publicAPI), c.src != nil && c.src.says("github.points_per_minute")
	if cost <= g.PointsPerMinute || !public && !named { // an own server may have no limit
		return nil
	}
	reason := fmt.Sprintf("%d bounds nothing: writes_per_minute (%d) and edits_per_minute (%d) may use %d points a minute, %d each. ",
		g.PointsPerMinute, g.WritesPerMinute, g.EditsPerMinute, cost, writePoints)
	lower := fmt.Sprintf("the two to %d together", g.PointsPerMinute/writePoints)
	if public && cost > publicPoints {
		reason += fmt.Sprintf("Lower %s: GitHub allows %d points", lower, publicPoints)
	} else {
		reason += fmt.Sprintf("Set it to %d or more, or lower %s", cost, lower)
	}
	return []Doubt{{"github.points_per_minute", reason}}
}
