package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
)

// problem is one sentence that an operator has to know.
type problem struct {
	Bad  bool // else it is a hint
	Says string
	At   string // the part of the page with details; "": none
}

// overdue is how long a key may be due before that is a problem.
const overdue = 5 * time.Minute

// slack is how late a source may be before that is a problem: a large listing takes long.
const slack = 5 * time.Minute

// problems lists the problems, the worst first: unread data, the configuration, services, then
// keys, then questions to an operator.
func (d *pageData) problems() []problem {
	told := d.told()
	faulty := map[string]bool{} // services whose problem already reports a fault
	var services []problem
	for i := range d.Services {
		s := &d.Services[i]
		faulty[s.Service] = s.State == ServiceDown || s.State == ServiceRefused
		services = append(services, s.problems(d.Now, d.waitsFor(s.Service))...)
	}
	faults := slices.DeleteFunc(slices.Clone(d.Configuration), func(f Fault) bool { return faulty[f.Service] })
	out := slices.Concat(d.Unread, configurationProblems(faults), services)
	for _, p := range d.Projects {
		if !p.Oldest.IsZero() && d.Now.Sub(p.Oldest) > overdue {
			out = append(out, problem{true, fmt.Sprintf("Project %s has a key that has been due for %s: nobody works it.", p.Name, span(d.Now.Sub(p.Oldest))), "#services"})
		}
	}
	out = append(out, groupProblems(d.Failures, "given up", "#failures")...)
	failing := slices.DeleteFunc(slices.Clone(d.Failing), func(g group) bool { return told[g.Rows[0].Service] })
	out = append(out, groupProblems(failing, "put off after a failure", "#waiting")...)
	out = append(out, d.waitProblems(told)...)
	out = append(out, slices.Concat(d.Census.refused(), driftProblem(d.Drift))...)
	if n := len(d.Questions) + d.MoreQuestions; n > 0 {
		out = append(out, problem{false, fmt.Sprintf("%s for an answer.", mapping.Count(n, "question waits", "questions wait")), "#questions"})
	}
	return slices.Concat(out, d.Census.lacks.problems(), d.routeProblems())
}

// told are the services with a problem that explains why keys wait for them.
func (d *pageData) told() map[string]bool {
	told := map[string]bool{}
	for i := range d.Services {
		s := &d.Services[i]
		told[s.Service] = s.State != ServiceUp && s.State != ServiceUnknown
	}
	return told
}

// stuck are the keys that need attention. They are tried again after a failure, or wait for a
// service without a reported problem.
func (d *pageData) stuck() []row {
	told := d.told()
	return slices.DeleteFunc(slices.Clone(d.waiting), func(r row) bool {
		return !r.Failing && (r.Service == "" || told[r.Service])
	})
}

// driftProblem reports links that differed at the last verification.
func driftProblem(drift map[string]int) []problem {
	n, routes := 0, []string{}
	for route, links := range mapping.Sorted(drift) {
		if n += links; links > 0 {
			routes = append(routes, route)
		}
	}
	if n == 0 {
		return nil
	}
	return []problem{{true, fmt.Sprintf("%s when last verified, of %s: planbridge verify names what differs.",
		mapping.Count(n, "link differed", "links differed"), some(routes)), ""}}
}

// configurationProblems lists the parts of the configuration that do not work.
func configurationProblems(faults []Fault) (out []problem) {
	few, more := atMost(faults, pageProblems)
	for _, f := range few {
		out = append(out, problem{true, cut(pageReason, f.Says), ""})
	}
	if more > 0 {
		out = append(out, problem{true, fmt.Sprintf("The log has %s of the configuration.", mapping.Count(more, "more fault", "more faults")), ""})
	}
	return out
}

// waitsFor is how many keys wait for a service, among those that are listed.
func (d *pageData) waitsFor(service string) (n int) {
	for i := range d.waiting {
		if service != "" && d.waiting[i].Service == service {
			n++
		}
	}
	return n
}

// waitProblems reports waits that no other problem explains. Another replica found a service away,
// or creates wait for the first complete poll. It names paused routes as such.
func (d *pageData) waitProblems(told map[string]bool) (out []problem) {
	paused := map[string]bool{}
	for i := range d.Look {
		paused[d.Look[i].Name] = !d.Look[i].Paused.IsZero()
	}
	rows := slices.DeleteFunc(slices.Clone(d.waiting), func(r row) bool {
		return r.Service == "" || r.Failing || told[r.Service] || paused[r.Route]
	})
	for _, g := range grouped(rows) {
		first := &g.Rows[0]
		says := fmt.Sprintf("%s for %s, ", mapping.Count(g.Count, "item waits", "items wait"), g.WaitsFor)
		if g.Count > 1 {
			says += "the first one "
		}
		out = append(out, problem{false, says + "for " + span(d.Now.Sub(g.First)) + ": " + cut(pageReason, first.Reason), "#waiting"})
	}
	return out
}

// groupProblems reports the state of groups of keys, and the reason.
func groupProblems(groups []group, what, at string) (out []problem) {
	for i := range groups[:min(len(groups), pageProblems)] {
		g := &groups[i]
		out = append(out, problem{true, fmt.Sprintf("%s %s: %s", mapping.Count(g.Count, "item was", "items were"), what, cut(pageReason, g.Reason)), at})
	}
	if more := len(groups) - pageProblems; more > 0 {
		out = append(out, problem{true, fmt.Sprintf("Items were %s for %s more.", what, mapping.Count(more, "reason", "reasons")), at})
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
			out = append(out, problem{false, mapping.Count(r.total(), "link is", "links are") + " without a route.", "#routes"})
		} else if r.gone() {
			gone = append(gone, r.Name)
		}
	}
	if len(paused) > 0 {
		out = append(out, problem{false, fmt.Sprintf("%s paused: %s.", mapping.Count(len(paused), "route is", "routes are"), some(paused)), "#routes"})
	}
	if len(gone) > 0 {
		out = append(out, problem{false, fmt.Sprintf("%s links and no route in the configuration: %s.", mapping.Count(len(gone), "name has", "names have"), some(gone)), "#routes"})
	}
	return out
}

// problems lists the problems of a service that so many keys wait for. A consequence of an outage is
// no other problem.
func (s *ServiceHealth) problems(now time.Time, waits int) []problem {
	says := func(text string) string {
		if text = strings.TrimSuffix(text, ".") + "."; waits > 0 {
			text += " " + mapping.Count(waits, "item waits", "items wait") + " for it."
		}
		return text
	}
	switch s.State {
	case ServiceDown:
		text := s.Title() + " does not answer"
		if s.Error != "" {
			text += ": " + cut(pageReason, s.Error)
		}
		return []problem{{true, says(text), "#services"}}
	case ServiceRefused:
		return []problem{{true, says(s.Title() + " does not take the " + s.credential() + ": " + cut(pageReason, s.Error)), "#services"}}
	case ServiceLimited:
		return []problem{{false, says(fmt.Sprintf("%s asked for a pause; it ends %s", s.Title(), in(now, s.Until))), "#services"}}
	}
	var out []problem
	for _, f := range s.Failing {
		out = append(out, problem{true, fmt.Sprintf("%s answers, but %s failed %s in a row, for %s: %s",
			s.Title(), f.Operation, mapping.Count(f.Times, "time", "times"), span(now.Sub(f.Since)), cut(pageReason, f.Error)), "#services"})
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
