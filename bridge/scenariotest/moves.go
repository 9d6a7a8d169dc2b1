package scenariotest

import (
	"context"
	"fmt"
	"strings"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
)

// repos has the events of repositories and of whole issues:
//
//	repo NAME [public] [unhooked] [members=A,B] [contributors=C,D]
//	                                    there is another repository; the bridge hears of it
//	in REPO …                           any other act, in another repository
//	transfer N REPO                     rename REPO NAME             archive|unarchive
//	lock N                              convert N: into a discussion
//	hidden REPO                         the bridge's token does not reach it
//	delete-repo REPO                    account OLD NEW: OLD is called NEW from now on
//	replay EVENT ACTION                 the first such delivery comes once more
func (s *Scene) repos(verb string, l *line) error {
	switch verb {
	case "repo":
		name := l.next()
		spec := githubtest.RepoSpec{Private: !l.flag("public")}
		spec.Members, spec.Contributors = l.logins("members"), l.logins("contributors")
		s.GitHub.AddRepo(name, spec)
		if !l.flag("unhooked") {
			s.GitHub.AddHook(name, s.WebhookURL(), bridgetest.WebhookSecret)
		}
	case "in":
		defer s.in(l)()
		return s.github(l)
	case "transfer":
		s.Repo.Transfer(l.number(), l.next())
	case "rename":
		s.GitHub.RenameRepo(l.next(), l.next())
	case "delete-repo":
		s.GitHub.DeleteRepo(l.next())
	case "account":
		s.GitHub.RenameAccount(l.next(), l.next())
	case "replay":
		return s.replay(l.next(), l.next())
	case "archive", "unarchive":
		s.Repo.Archive(verb == "archive")
	case "lock":
		s.Repo.Lock(l.number())
	case "convert":
		s.Repo.Convert(l.number())
	case "hidden":
		s.GitHub.AddToken(bridgetest.Token, bridgetest.Bot, githubtest.OnlyRepos(l.words...))
	default:
		return fmt.Errorf("github %s: nobody knows how to do that", verb)
	}
	return nil
}

// replay repeats a delivery.
func (s *Scene) replay(event, action string) error {
	for _, d := range s.GitHub.Deliveries() {
		if d.Event == event && d.Action == action {
			s.GitHub.Redeliver(d.GUID)
			return nil
		}
	}
	return fmt.Errorf("no delivery of %s %s", event, action)
}

// logins are the values of that name, parted by commas.
func (l *line) logins(name string) []string {
	v, ok := l.get(name)
	if !ok {
		return nil
	}
	return strings.Split(v, ",")
}

// in makes a line be about another repository; the returned function ends that.
func (s *Scene) in(l *line) (back func()) {
	was := s.Repo
	s.Repo = s.GitHub.Repo(l.next())
	return func() { s.Repo = was }
}

// The other project, to which move points the route.
const otherProject, otherBucket = "other", "Inbox"

// move points the route to another project, and its issues get cards there.
func (s *Scene) move() error {
	if s.other == nil {
		s.other = s.Planning.AddProject(planningtest.ProjectSpec{Title: "Other", Members: []string{"alice", bridgetest.BridgeUser}, Buckets: []string{otherBucket}})
		s.other.AddSecret(s.Project.Secret())
	}
	if err := s.configure("back"); err != nil {
		return err
	}
	return s.ask("/api/v1/clean", status.CleanAsk{Route: bridgetest.RepoName, Project: otherProject, Bucket: otherBucket}, nil)
}

// pointed is a configuration whose route leads to the other project, once there is one.
func (s *Scene) pointed(yaml string) string {
	if s.other == nil {
		return yaml
	}
	yaml = strings.Replace(yaml, "  projects:\n", fmt.Sprintf("  projects:\n    %s: {id: %s, secret: env:PLANNING_WEB_SECRET, username: %s}\n", otherProject, s.other.ID(), bridgetest.BridgeUser), 1)
	return strings.Replace(yaml, "project: web\n    bucket: "+bridgetest.Bucket, "project: "+otherProject+"\n    bucket: "+otherBucket, 1)
}

// elsewhere makes cards be those of the other project, until back.
func (s *Scene) elsewhere() (back func()) {
	was, cards := s.Project, s.cards
	s.Project, s.cards = s.other, s.otherCards
	return func() { s.Project, s.cards, s.otherCards = was, cards, s.cards }
}

// waiting counts the keys that wait for a service or a repository.
func (s *Scene) waiting() (n int) {
	queues, err := s.App.Operator().Overview(context.Background())
	if err != nil {
		return -1
	}
	for _, q := range queues {
		for _, keys := range q.Waiting {
			n += keys
		}
	}
	return n
}

// metricFacts is the value of a metric.
func (s *Scene) metricFacts(name string) facts {
	value, err := s.Metric(name)
	if err != nil {
		value = err.Error()
	}
	return facts{"is": value}
}
