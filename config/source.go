package config

import (
	"fmt"
	"regexp"
	"strings"
)

// position is a position in a file.
type position struct {
	file         string
	line, column int
}

// source has the position of each key. The path of a key in an included file starts with that
// file's entry: include[0]/routes[2].project.
type source struct {
	files  []string            // the file itself, then the included ones, in the order of reading
	at     map[string]position // by the key's path; "" is the file itself
	failed map[string]bool     // keys that have a fault already
	routes []string            // the paths of the routes

	defaults Route // the file's key defaults
}

// find returns the position of a key, or of its parent where it is missing.
func (s *source) find(path string) position {
	for {
		if p, ok := s.at[path]; ok {
			return p
		}
		cut := strings.LastIndexAny(path, "/.[")
		if cut < 0 {
			return s.at[""]
		}
		if path[cut] == '/' && cut < len(path)-1 {
			cut++ // the included file itself
		}
		path = path[:cut]
	}
}

// says reports whether the file has the key.
func (s *source) says(path string) bool {
	_, ok := s.at[path]
	return ok
}

// origin returns the path of a route's value: the route's own key, or that of the file's
// defaults.
func (s *source) origin(route, key string) string {
	if own := route + "." + key; s.says(own) {
		return own
	}
	return "defaults." + key
}

// route returns the path of a route.
func (s *source) route(i int) string {
	if s == nil || i >= len(s.routes) {
		return fmt.Sprintf("routes[%d]", i)
	}
	return s.routes[i]
}

var includedFile = regexp.MustCompile(`^include\[\d+\]/`)

// inFile returns a path within its own file.
func inFile(path string) string { return includedFile.ReplaceAllString(path, "") }
