package config_test

import (
	"strings"
	"testing"

	"planbridge/config"
)

// TestDoubtsAboutPoints: points that the budgets of writes exceed bound nothing, which is said with
// the figures. A server of one's own without points has no limit, and nothing is said of it.
func TestDoubtsAboutPoints(t *testing.T) {
	const own = "  api_url: https://ghe.example.com/api/v3\n"
	for name, tt := range map[string]struct{ github, want string }{
		"as it is":              {"", ""},
		"as many as they cost":  {"  points_per_minute: 650\n", ""},
		"fewer than they cost":  {"  points_per_minute: 300\n", "github.points_per_minute: 300 bounds nothing: writes_per_minute (70) and edits_per_minute (60) may use 650 points a minute, 5 each. Set it to 650 or more, or lower the two to 60 together"},
		"more than GitHub has":  {"  writes_per_minute: 100\n", "github.points_per_minute: 850 bounds nothing: writes_per_minute (100) and edits_per_minute (100) may use 1000 points a minute, 5 each. Lower the two to 170 together: GitHub allows 900 points"},
		"on a server":           {own + "  writes_per_minute: 1000\n", ""},
		"on a server, named":    {own + "  writes_per_minute: 1000\n  points_per_minute: 5000\n", "github.points_per_minute: 5000 bounds nothing: writes_per_minute (1000) and edits_per_minute (1000) may use 10000 points a minute, 5 each. Set it to 10000 or more, or lower the two to 1000 together"},
		"on a server, as large": {own + "  writes_per_minute: 500\n  points_per_minute: 5000\n", ""},
	} {
		c, err := config.Parse([]byte(strings.Replace(minimal, "github:\n", "github:\n"+tt.github, 1)), "p.yaml", environ)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, d := range c.Doubts() {
			got = append(got, d.Path+": "+d.Reason)
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
