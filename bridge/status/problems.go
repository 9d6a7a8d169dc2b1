package status

import (
	"fmt"
	"slices"
	"time"
)

// problem is something that an operator has to know, in one sentence.
type problem struct {
	Bad  bool // else it is a hint
	Says string
	At   string // where on the page more of it stands; "": nowhere
}

// overdue is how long a key may be due before that is a problem.
const overdue = 5 * time.Minute

// slack is by how much a source may be later than it is made: a large listing takes long.
const slack = 5 * time.Minute

// problems lists what is wrong, the worst first: what cannot be read, the configuration,
// services, then keys, then what waits for an operator.
func (d *pageData) problems() []problem {
	out := slices.Concat(d.Unread, configurationProblems(d.Configuration))
	for i := range d.Services {
		out = append(out, d.Services[i].problems(d.Now)...)
	}
	for _, p := range d.Projects {
		if !p.Oldest.IsZero() && d.Now.Sub(p.Oldest) > overdue {
			out = append(out, problem{true, fmt.Sprintf("Project %s has a key that has been due for %s: nobody works it.", p.Name, span(d.Now.Sub(p.Oldest))), "#services"})
		}
	}
	out = append(out, groupProblems(d.Failures, "given up", "#failures")...)
	out = append(out, groupProblems(d.Failing, "put off after a failure", "#waiting")...)
	if n := len(d.Questions) + d.MoreQuestions; n > 0 {
		out = append(out, problem{false, fmt.Sprintf("%s for an answer.", Count(n, "question waits", "questions wait")), "#questions"})
	}
	return slices.Concat(out, d.Lacks.problems(), d.routeProblems())
}

// configurationProblems says what of the configuration does not work.
func configurationProblems(faults []string) (out []problem) {
	few, more := atMost(faults, pageProblems)
	for _, says := range few {
		out = append(out, problem{true, cut(pageReason, says), ""})
	}
	if more > 0 {
		out = append(out, problem{true, fmt.Sprintf("The log has %s of the configuration.", Count(more, "more fault", "more faults")), ""})
	}
	return out
}

// groupProblems says of groups of keys what was done with them, and why.
func groupProblems(groups []group, what, at string) (out []problem) {
	for i := range groups[:min(len(groups), pageProblems)] {
		g := &groups[i]
		out = append(out, problem{true, fmt.Sprintf("%s %s: %s", Count(g.Count, "item was", "items were"), what, cut(pageReason, g.Reason)), at})
	}
	if more := len(groups) - pageProblems; more > 0 {
		out = append(out, problem{true, fmt.Sprintf("Items were %s for %s more.", what, Count(more, "reason", "reasons")), at})
	}
	return out
}

// routeProblems lists the routes that are paused and those that are gone.
func (d *pageData) routeProblems() []problem {
	var out []problem
	paused, gone := []string{}, []string{}
	for i := range d.Look {
		if r := &d.Look[i]; !r.Paused.IsZero() {
			paused = append(paused, r.Name)
		} else if r.gone() && r.Name == "" {
			out = append(out, problem{false, Count(r.total(), "link is", "links are") + " without a route.", "#routes"})
		} else if r.gone() {
			gone = append(gone, r.Name)
		}
	}
	if len(paused) > 0 {
		out = append(out, problem{false, fmt.Sprintf("%s paused: %s.", Count(len(paused), "route is", "routes are"), some(paused)), "#routes"})
	}
	if len(gone) > 0 {
		out = append(out, problem{false, fmt.Sprintf("%s links and no route in the configuration: %s.", Count(len(gone), "name has", "names have"), some(gone)), "#routes"})
	}
	return out
}

// problems lists what is wrong with a service.
func (s *ServiceHealth) problems(now time.Time) []problem {
	var out []problem
	switch s.State {
	case ServiceDown:
		says := s.Title() + " does not answer"
		if s.Error != "" {
			says += ": " + cut(pageReason, s.Error)
		}
		out = append(out, problem{true, says, "#services"})
	case ServiceRefused:
		out = append(out, problem{true, s.Title() + " does not take the secret: " + cut(pageReason, s.Error), "#services"})
	case ServiceLimited:
		out = append(out, problem{false, fmt.Sprintf("%s asked for a pause; it ends %s.", s.Title(), in(now, s.Until)), "#services"})
	}
	for _, source := range s.Sources {
		if source.Late(now) {
			out = append(out, problem{true, fmt.Sprintf("The last %s of %s was %s.", source.What, s.Title(), ago(now, source.At)), "#services"})
		}
	}
	return out
}

// Title names a service for people.
func (s *ServiceHealth) Title() string {
	if s.Project {
		return "Planning project " + s.Name
	}
	return "GitHub"
}

// Late reports whether a source did not succeed when it should have.
func (s *Source) Late(now time.Time) bool {
	every := time.Duration(s.Every * float64(time.Second))
	return every > 0 && !s.Elsewhere && !s.At.IsZero() && now.Sub(s.At) > 3*every+slack
}

// Count says a number with its noun and verb.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// some joins the first names of a list.
func some(names []string) string {
	const most = 5
	out := ""
	for i, name := range names {
		switch {
		case i == most:
			return fmt.Sprintf("%s and %d more", out, len(names)-most)
		case i > 0:
			out += ", "
		}
		out += cut(pageName, name)
	}
	return out
}
