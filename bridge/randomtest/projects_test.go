package randomtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// A second planning project in the random run: a label or another repository leads there, or
// operators point the route there and move its issues. They take the project out of the
// configuration, too, and give it back. The judge is in projects_judge_test.go.

// otherName is what the other project, its route and the label that leads there are called.
const otherName = "api"

// otherRepo is the repository of the other route, where the two have one each.
const otherRepo = "acme/api"

// The ways in which issues get into the other project.
const (
	byLabel      = "a label leads to the other project"
	byRepository = "another repository leads to the other project"
	byMove       = "the route is pointed at the other project"
)

// The bits of what the configuration says of the other project.
const (
	otherAway  int32 = 1 << iota // it is not in it
	otherLeads                   // the route leads there
)

// projects is the other project of a run.
type projects struct {
	*turn
	kind     string
	settings string // of its route, those of the route of the first project
	project  *planningtest.Project
	people   *people // people who work in its repository and in it; nil: all work in both
	spells   []span  // in which the project is not in the configuration
	led      []span  // in which the route leads there
	moved    bool    // its issues have moved
}

// configuration is what differs between the configurations that the bridges of a run get.
type configuration struct {
	away  bool
	setup int32
}

func (s *simulation) configured() configuration {
	return configuration{s.away.Load(), s.setup.Load()}
}

// drawProjects says whether the run has a second project: with PLANBRIDGE_SIM_PROJECTS=2 one in
// five has. Such a run is mostly the same twice, but for one of eight with the race detector.
func (c *chaos) drawProjects() {
	one := c.turns.next("project")
	if c.sim == nil || one == nil || os.Getenv("PLANBRIDGE_SIM_PROJECTS") != "2" || !one.chance(20) {
		return
	}
	c.other = &projects{turn: one, kind: []string{byLabel, byRepository, byMove}[one.IntN(3)]}
	c.sim.other = c.other
}

// routeTo adds to the settings of the first route what leads to the other one.
func (c *chaos) routeTo(o *bridgetest.Options) {
	if c.other == nil {
		return
	}
	if c.other.kind == byMove && directionOf(o.Route) == mapping.ToGitHub { // such a route makes no cards
		c.other.kind = byRepository
	}
	c.other.settings = o.Route
	if c.other.kind == byLabel {
		o.Route += "issues: {exclude_labels: [" + otherName + "]}\n"
		c.other.settings += "issues: {labels: [" + otherName + "]}\n"
	}
}

// makeOther makes the other project, and the repository of its route.
func (c *chaos) makeOther(of size) {
	p := c.other
	if p == nil {
		return
	}
	p.project = c.Planning.AddProject(planningtest.ProjectSpec{Title: "API", Members: []string{"alice", bridgetest.BridgeUser}, Buckets: []string{bridgetest.Bucket, "Later"}})
	p.project.AddSecret(c.Project.Secret())
	c.people.did(nil, "operator: there is a second project: %s", p.kind)
	switch p.kind {
	case byRepository:
		there := *c.World // its own services, another repository and another project
		there.Repo, there.Project = c.GitHub.AddRepo(otherRepo, githubtest.RepoSpec{Private: true}), p.project
		p.people = newPeople(&there, c.keys, c.people.lists, of)
		p.people.diary, p.people.careful = c.people.diary, c.people.careful
		c.people.beside = []*planningtest.Project{p.project}
	case byLabel:
		c.people.label = otherName
		c.people.newCards = append(c.people.newCards, p.project)
		fallthrough
	default:
		c.people.projects = append(c.people.projects, p.project)
	}
}

// configure says of the other project what a bit set says.
func (p *projects) configure(yaml string, setup int32) string {
	if p == nil || setup&otherAway != 0 {
		return yaml
	}
	yaml = strings.Replace(yaml, "\nusers: {", fmt.Sprintf("\n    %s: {id: %s, secret: env:PLANNING_WEB_SECRET, username: %s}\nusers: {", otherName, p.project.ID(), bridgetest.BridgeUser), 1)
	repository := bridgetest.RepoName
	switch p.kind {
	case byMove:
		if setup&otherLeads != 0 {
			yaml = strings.Replace(yaml, "\n    project: web\n", "\n    project: "+otherName+"\n", 1)
		}
		return yaml
	case byRepository:
		repository = otherRepo
	}
	yaml += fmt.Sprintf("  - repository: %s\n    name: %s\n    project: %s\n    bucket: %s\n", repository, otherName, otherName, bridgetest.Bucket)
	for line := range strings.Lines(p.settings) {
		yaml += "    " + line
	}
	return yaml
}

// allCards are the cards of all projects that people work on.
func (p *people) allCards() (all []planningtest.CardState) {
	for _, project := range p.projects {
		all = append(all, project.Cards()...)
	}
	return all
}

// project is the one that a card or a task is in, of these people or of those beside.
func (p *people) project(id string) *planningtest.Project {
	for _, project := range slices.Concat(p.projects[1:], p.beside) {
		if project.Card(id).ID != "" || project.Task(id).ID != "" {
			return project
		}
	}
	return p.projects[0]
}

// newCardsIn is the project in which somebody makes a card.
func (p actor) newCardsIn() *planningtest.Project {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.newCards) == 1 {
		return p.newCards[0]
	}
	return p.newCards[p.IntN(len(p.newCards))]
}

// live is one thing that somebody does in either repository.
func (c *chaos) live(p actor) {
	if c.other != nil && c.other.people != nil && p.chance(40) {
		p.people = c.other.people
	}
	p.act()
}

// at is who acts right before a write of an issue of a repository.
func (c *chaos) at(p actor, repository string) actor {
	if repository == otherRepo {
		p.people = c.other.people
	}
	return p
}

// arranging lets operators and people do what concerns the other project.
func (c *chaos) arranging(ctx context.Context) {
	if c.other == nil {
		return
	}
	for c.rests(ctx, c.other.Rand, time.Second, 4*time.Second) {
		one := c.turns.next("project")
		switch {
		case one == nil:
		case c.other.kind == byMove && len(c.other.led) == 0:
			c.point()
		case c.other.kind == byMove:
			_, _, _ = c.askMove(ctx, false) // it is asked for again at the end
		case c.other.kind == byLabel && one.chance(70):
			c.relabelOne(actor{c.people, one})
		default:
			c.withdraw()
			if !pause(ctx, one.Rand, reloadKnown, reloadKnown+4*time.Second) {
				return
			}
			c.giveBack()
		}
	}
}

// arrange has each bridge take another configuration.
func (c *chaos) arrange(text string, setup int32) {
	c.sim.setup.Store(setup)
	c.people.did(nil, "operator: %s", text)
	for _, p := range c.bridges {
		if err := p.(*virtual).reload(context.Background()); err != nil {
			c.t.Errorf("reload: %v", err)
		}
	}
}

// point has the route lead to the other project.
func (c *chaos) point() {
	c.other.led = []span{{from: time.Now()}}
	c.people.mu.Lock()
	c.people.newCards = []*planningtest.Project{c.other.project}
	c.people.mu.Unlock()
	c.arrange("points the route at the other project", otherLeads)
}

// withdraw takes the other project out of the configuration, and giveBack gives it back.
func (c *chaos) withdraw() {
	c.other.spells = append(c.other.spells, span{from: time.Now()})
	c.arrange("takes the other project out of the configuration", otherAway)
}

func (c *chaos) giveBack() {
	if c.sim.setup.Load()&otherAway == 0 {
		return
	}
	c.other.spells = ended(c.other.spells, time.Now())
	c.arrange("gives the other project back", 0)
}

// relabelOne has an issue lead to the other project, or not any more.
func (c *chaos) relabelOne(p actor) {
	if all := p.issues(); len(all) > 0 {
		i := all[p.IntN(len(all))]
		p.lead(i.Number, !slices.Contains(i.Labels, otherName))
	}
}

// lead puts the label that leads to the other project on an issue, or takes it off.
func (p actor) lead(issue int, there bool) {
	if there {
		p.w.Repo.Label(issue, "octocat", otherName)
	} else {
		p.w.Repo.Unlabel(issue, "octocat", otherName)
	}
	p.did(nil, "octocat has issue %d lead to the other project: %t", issue, there)
}

// askMove asks for the issues of the route to be moved. dry: it only asks what that would do.
func (c *chaos) askMove(ctx context.Context, dry bool) (v *virtual, job status.Job, err error) {
	body, err := json.Marshal(status.CleanAsk{Route: bridgetest.RepoName, Project: otherName, Bucket: bridgetest.Bucket, DryRun: dry})
	if err != nil {
		return nil, job, err
	}
	for _, p := range c.bridges {
		v = p.(*virtual)
		if err = v.Ask(ctx, http.MethodPost, "/api/v1/clean", body, &job); err == nil {
			c.people.did(nil, "operator: moves the issues, as a preview: %t", dry)
			break
		}
	}
	return v, job, err
}

// endArranging gives the project back, leads each issue to where its card is, or moves the
// issues for good.
func (c *chaos) endArranging() {
	if c.other == nil {
		return
	}
	c.giveBack()
	time.Sleep(2 * chaosSettle) // virtual
	switch c.other.kind {
	case byLabel:
		c.leadHome()
	case byMove:
		if len(c.other.led) == 0 {
			c.point()
		}
	}
}

func (c *chaos) leadHome() {
	s := look(c.World, c.people.projects, c.keys, c.people.lists)
	p := c.actor("project")
	if p.turn == nil {
		return
	}
	for n := range s.issues {
		i := &s.issues[n]
		for m := range s.cards {
			card := &s.cards[m]
			if there := card.project == c.other.project.ID(); joined(i, card) && there != i.leads {
				p.lead(i.number, there)
				break
			}
		}
	}
}

// previewMove asks what the move would do.
func (c *chaos) previewMove(ctx context.Context) []complaint {
	job, err := awaited(ctx, func(ctx context.Context) (asker, status.Job, error) { return c.askMove(ctx, true) })
	if err != nil || job.State != status.JobDone {
		return []complaint{{what: fmt.Sprintf("the preview of the move does not end well: job %s %s: %v", job.State, job.Error, err)}}
	}
	return nil
}

// lastMove is one that nothing disturbs: all issues have to be moved.
func (c *chaos) lastMove() []complaint {
	if c.other == nil || c.other.kind != byMove {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), c.patience(restWithin))
	defer cancel()
	if all := c.previewMove(ctx); len(all) > 0 {
		return all
	}
	for {
		c.idle(ctx) // failures are taken up again, and people answer
		job, err := awaited(ctx, func(ctx context.Context) (asker, status.Job, error) { return c.askMove(ctx, false) })
		if err == nil && job.State == status.JobDone && job.Clean.Failed == 0 {
			c.other.moved = true
			c.people.did(nil, "operator: the issues have moved: %+v", *job.Clean)
			return nil
		}
		if !pause(ctx, c.other.Rand, time.Second, 2*time.Second) {
			return []complaint{{what: fmt.Sprintf("the move does not end well: job %s %s %+v: %v", job.State, job.Error, job.Clean, err)}}
		}
	}
}
