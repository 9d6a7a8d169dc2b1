package config

import "strings"

// Uses reports whether the file has a key, whatever its value: for instance
// "brakes.creates_per_minute", or "routes[].tasks", which means any route or the
// defaults.
func (c *Config) Uses(path string) bool {
	if c.src == nil {
		return false
	}
	key, ofRoutes := strings.CutPrefix(path, "routes[].")
	if !ofRoutes {
		return c.src.says(path)
	}
	for i := range c.Routes {
		if c.src.says(c.src.route(i) + "." + key) {
			return true
		}
	}
	return c.src.says("defaults." + key)
}
