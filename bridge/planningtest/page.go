package planningtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// page shows the content to people, as text.
func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, p := range s.service.Projects() {
		fmt.Fprintf(w, "project %s %q\n  secrets %s\n  members %s\n", p.ID(), p.Title(),
			strings.Join(p.Secrets(), " "), strings.Join(p.Members(), " "))
		cards := p.Cards()
		for _, b := range p.Buckets() {
			fmt.Fprintf(w, "  bucket %s %q\n", b.ID, b.Title)
			for i := range cards {
				if cards[i].BucketID == b.ID {
					describe(w, &cards[i])
				}
			}
		}
		for _, sp := range p.Sprints() {
			fmt.Fprintf(w, "  sprint %s %q\n", sp.ID, sp.Title)
		}
	}
}

func describe(w http.ResponseWriter, c *CardState) {
	fmt.Fprintf(w, "    #%d %s %q", c.CID, c.ID, c.Title)
	if c.Estimate != nil {
		fmt.Fprintf(w, " estimate=%s", strconv.FormatFloat(*c.Estimate, 'f', -1, 64))
	}
	if c.Sprint != "" {
		fmt.Fprintf(w, " iteration=%s", c.Sprint)
	}
	if c.Review != "" {
		fmt.Fprintf(w, " iterationReview=%s", c.Review)
	}
	fmt.Fprintln(w)
	for _, t := range c.Tasks {
		fmt.Fprintf(w, "      [%s] #%d %s %q\n", t.State, t.CID, t.ID, t.Title)
	}
}
