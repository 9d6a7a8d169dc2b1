package main

import (
	"fmt"

	"planbridge/config"
)

// inactive lists the keys of the file that are accepted while nothing acts on
// them yet, so that nobody relies on what does not happen. Defaults are not in
// it: only what somebody wrote.
func inactive(c *config.Config) []string {
	var keys []string
	inherits := false // some route takes tasks from the file's defaults
	for i := range c.Routes {
		key := fmt.Sprintf("routes[%d].tasks", i)
		switch active := c.Routes[i].Tasks != config.SubIssues; {
		case c.Uses(key) && !active:
			keys = append(keys, key)
		case !c.Uses(key) && !active:
			inherits = true
		}
	}
	if inherits && c.Uses("defaults.tasks") {
		keys = append(keys, "defaults.tasks")
	}
	if c.Uses("labels.hours") {
		keys = append(keys, "labels.hours")
	}
	return keys
}
