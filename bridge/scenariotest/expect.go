package scenariotest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/status"
)

// facts are the checkable values of an item.
type facts map[string]string

// expect waits for a state:
//
//	expect issue N    there title body raw items state reason labels shown milestone assignees parent comments comment
//	expect milestone N there title text state due     the milestone of that number
//	expect card N     there title summary raw list parts estimate bucket tasks status title-by summary-by
//	expect task N     there state title by         the first task of card N
//	expect link N     state why route asking refused said subs  the link of issue N
//	                  outside: why issue N has none
//	expect explain N  says next    the first line of planbridge explain, and what comes next
//	expect pair N     the same of the link of card N
//	expect conflict N attribute winner state github planning   the Nth oldest of the ledger
//	expect            issues cards tasks conflicts failures milestones colors said: what the bridge warned of
//
// NAME=VALUE demands an equal value, NAME~=VALUE one that contains it; ! negates. Body and summary
// are people's texts, without the bridge's marker; raw has it. Labels are sorted and joined by
// commas, shown are those that show planning's state; comment is all comments' text.
func (s *Scene) expect(l *line) error {
	if err := s.ensure(); err != nil {
		return err
	}
	of := l.next()
	if of == "in" { // another repository than acme/web
		defer s.in(l)()
		of = l.next()
	}
	if of == "elsewhere" {
		defer s.elsewhere()()
		of = l.next()
	}
	var metric string
	if of == "metric" { // is=VALUE, or is=absent
		metric = l.next()
	}
	n := l.number()
	look, ok := map[string]func() facts{
		"":          s.worldFacts,
		"issue":     func() facts { return issueFacts(s.Repo.Issue(n)) },
		"card":      func() facts { return s.cardFacts(n) },
		"milestone": func() facts { return s.milestoneFacts(n) },
		"task":      func() facts { return s.taskFacts(n) },
		"link":      func() facts { return s.linkFacts(fmt.Sprintf("%s#%d", s.Repo.Name(), n)) },
		"explain":   func() facts { return s.explained(fmt.Sprintf("%s#%d", s.Repo.Name(), n)) },
		"pair":      func() facts { return s.linkFacts(s.card(n)) },
		"conflict":  func() facts { return s.conflictFacts(n) },
		"metric":    func() facts { return s.metricFacts(metric) },
	}[of]
	if !ok {
		return fmt.Errorf("expect %s: there is no such thing", of)
	}
	var wrong []string
	err := s.until(func() bool {
		is := look()
		wrong = nil
		for _, v := range l.values {
			if got, known := is[v.name]; !known || !v.holds(got) {
				wrong = append(wrong, fmt.Sprintf("%s is %q, want %s %q", v.name, got, v.op, v.text))
			}
		}
		return wrong == nil
	})
	if err != nil {
		return fmt.Errorf("%s %d: %s", of, n, strings.Join(wrong, "; "))
	}
	return nil
}

func (v value) holds(got string) bool {
	op, negated := strings.CutPrefix(v.op, "!")
	same := got == v.text
	if op == "~=" {
		same = strings.Contains(got, v.text)
	}
	return same != negated
}

func issueFacts(i githubtest.IssueState) facts {
	if i.Number == 0 {
		return facts{"there": "no"}
	}
	body, _ := bridgetest.SplitMarker(i.Body)
	shown := slices.Sorted(slices.Values(bridgetest.ShownLabels.Projections(i.Labels)))
	labels := slices.DeleteFunc(slices.Sorted(slices.Values(i.Labels)), func(l string) bool { return slices.Contains(shown, l) })
	f := facts{
		"there": "yes", "title": i.Title, "body": body, "raw": i.Body, "items": bridgetest.ItemTexts(body), "state": i.State, "reason": i.StateReason,
		"labels": strings.Join(labels, ","), "shown": strings.Join(shown, ","), "milestone": strconv.Itoa(i.Milestone),
		"assignees": strings.Join(i.Assignees, ","), "parent": strconv.Itoa(i.Parent), "comments": strconv.Itoa(len(i.Comments)), "author": i.Author,
	}
	for _, c := range i.Comments {
		f["comment"] += c.Body + "\n"
	}
	return f
}

func (s *Scene) cardFacts(n int) facts {
	c := s.Project.Card(s.card(n))
	if c.ID == "" {
		return facts{"there": "no"}
	}
	summary, _ := bridgetest.SplitMarker(c.Summary)
	f := facts{
		"there": "yes", "title": c.Title, "summary": summary, "raw": c.Summary, "list": bridgetest.TaskTexts(s.Project.Tasks(c.ID)), "parts": partFacts(c.Tasks), "estimate": "", "bucket": c.Bucket,
		"tasks": strconv.Itoa(len(c.Tasks)), "task-titles": bridgetest.TaskTitles(c.Tasks), "footers": footerFacts(s.Project.Tasks(c.ID)), "status": c.Status, "title-by": s.author(c.ID, "title"), "summary-by": s.author(c.ID, "summary"),
	}
	if c.Estimate != nil {
		f["estimate"] = strconv.FormatFloat(*c.Estimate, 'f', -1, 64)
	}
	return f
}

// author is the last author of an attribute.
func (s *Scene) author(id, attribute string) string {
	past := s.Project.History(id, attribute)
	if len(past) == 0 {
		return ""
	}
	return past[len(past)-1].User
}

func (s *Scene) taskFacts(n int) facts {
	t := s.Project.Task(s.task(n))
	if t.ID == "" {
		return facts{"there": "no"}
	}
	return facts{"there": "yes", "state": t.State, "title": t.Title, "by": s.author(t.ID, "state")}
}

func (s *Scene) linkFacts(name string) facts {
	l, err := s.App.Operator().Find(context.Background(), name)
	if err != nil {
		f := facts{"state": "none", "outside": ""}
		if out, err := s.App.Operator().Outside(context.Background(), name); err == nil {
			f["outside"] = out.Why
		}
		return f
	}
	f := facts{"state": string(l.State), "why": l.Why, "route": l.Route, "asking": strconv.Itoa(len(l.Asking)), "refused": ""}
	f["said"] = s.said(l)
	for _, p := range l.SubLinks {
		f["subs"] += p.Where() + "=" + string(p.State) + "\n"
	}
	for a := range l.Refused {
		f["refused"] += string(a)
	}
	return f
}

// explained is the output of planbridge explain for an item.
func (s *Scene) explained(name string) facts {
	resp, err := s.Client().Get(s.AdminURL() + "/api/v1/links/" + url.PathEscape(name))
	if err != nil {
		return facts{"says": err.Error()}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	var d status.LinkDetail
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(text, &d) != nil {
		return facts{"says": string(text)}
	}
	f := facts{"says": d.Name() + ": " + d.Headline(), "next": ""}
	if d.Now != nil {
		for _, n := range d.Now.Next {
			f["next"] += n.Attribute + " " + n.Action + "\n"
		}
	}
	return f
}

func (s *Scene) conflictFacts(n int) facts {
	all, err := s.App.Operator().Conflicts(context.Background(), 100)
	if err != nil || n > len(all) {
		return facts{"there": "no"}
	}
	c := all[len(all)-n]
	return facts{
		"there": "yes", "attribute": string(c.Attribute), "winner": string(c.Winner), "state": c.State, "github": c.GitHub,
		"planning": c.Planning, "rule": c.Rule,
	}
}

func (s *Scene) worldFacts() facts {
	f := facts{
		"issues": strconv.Itoa(len(s.Repo.Issues())), "cards": strconv.Itoa(len(s.Project.Cards())),
		"tasks": strconv.Itoa(s.tasks()), "reports": "", "milestones": strconv.Itoa(len(s.Repo.Milestones())), "colors": s.colors(), "said": s.log.String(),
	}
	if s.App == nil {
		return f
	}
	if all, err := s.App.Operator().Conflicts(context.Background(), 100); err == nil {
		f["conflicts"] = strconv.Itoa(len(all))
	}
	if all, err := s.App.Operator().Failures(context.Background()); err == nil {
		f["failures"] = strconv.Itoa(len(all))
		for _, one := range all {
			f["reports"] += one.Where + ": " + one.Reason + "\n"
		}
	}
	f["waiting"] = strconv.Itoa(s.waiting())
	return f
}

func (s *Scene) tasks() (n int) {
	for _, c := range s.Project.Cards() {
		n += len(c.Tasks)
	}
	return n
}
