package planningtest

import (
	"fmt"
	"net/http"
	"strings"
)

// page shows a person what is there, as text.
func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, p := range s.projects {
		fmt.Fprintf(w, "project %s %q\n  secrets %s\n  members %s\n", p.id, p.title,
			strings.Join(p.secrets, " "), strings.Join(p.members, " "))
		for _, b := range p.buckets {
			fmt.Fprintf(w, "  bucket %s %q\n", b.id, b.title)
			for _, k := range p.cards {
				if k.attrs[state].value == b.id {
					k.describe(w)
				}
			}
		}
		for _, sp := range p.sprints {
			fmt.Fprintf(w, "  sprint %s %q\n", sp.id, sp.attrs[title].value)
		}
	}
}

func (it *item) describe(w http.ResponseWriter) {
	a := &it.attrs
	fmt.Fprintf(w, "    #%d %s %q", it.cid, it.id, a[title].value)
	for _, extra := range []attrName{estimate, iteration, review} {
		if a[extra].value != "" {
			fmt.Fprintf(w, " %s=%s", attrNames[extra], a[extra].value)
		}
	}
	fmt.Fprintln(w)
	for _, t := range it.tasks {
		fmt.Fprintf(w, "      [%s] #%d %s %q\n", t.attrs[state].value, t.cid, t.id, t.attrs[title].value)
	}
}
