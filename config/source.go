package config

import (
	"fmt"
	"regexp"
	"strings"
)

// position is where something stands.
type position struct {
	file         string
	line, column int
}

// source remembers where each key stands. The path of a key in an included file begins
// with that file's entry: include[0]/routes[2].project.
type source struct {
	files  []string            // the file itself, and those that it names, as they were read
	at     map[string]position // by the key's path; "" is the file itself
	failed map[string]bool     // keys that have a fault already
	routes []string            // the paths of the routes

	defaults Route // the file's key defaults
}

// find returns where a key stands; of a missing one, where its parent does.
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

// origin returns the path that gave a route its key: its own or, where it
// has none, that of the file's defaults.
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

// inFile is a path as the file that it stands in has it.
func inFile(path string) string { return includedFile.ReplaceAllString(path, "") }
