package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// scribes write words on both sides, each of which has to be somewhere in the end.
type scribes struct {
	op    *operator
	mu    sync.Mutex
	words map[string][]string // by what they were written on, which its title names
}

func (s *scribes) note(thing string, side string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	word := fmt.Sprintf("%s-%s-%d.", strings.ReplaceAll(thing, " ", "-"), side, len(s.words[thing]))
	s.words[thing] = append(s.words[thing], word)
	return word
}

// issue opens an issue, and card makes a card, with a first word each.
func (s *scribes) issue(thing string) {
	s.op.world.Repo.Open("octocat", githubtest.IssueSpec{Title: thing, Body: s.note(thing, "g")})
}

func (s *scribes) card(thing string) {
	s.op.world.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: thing, Summary: s.note(thing, "p")})
}

// write adds a word to each thing that is on a side: below on GitHub, above in planning.
func (s *scribes) write() {
	for _, i := range s.op.world.Repo.Issues() {
		word := s.note(i.Title, "g")
		s.op.world.Repo.Edit(i.Number, "octocat", func(e *githubtest.IssueEdit) { e.Body = below(e.Body, word) })
	}
	for _, c := range s.op.world.Project.Cards() {
		word := s.note(c.Title, "p")
		s.op.world.Project.EditCard(c.ID, "alice", func(e *planningtest.CardEdit) { e.Summary = word + "\n\n" + e.Summary })
	}
}

// below puts a word behind a text, and before the marker of an issue.
func below(body, word string) string {
	text, marker, marked := strings.Cut(body, "<!--")
	if text = strings.TrimRight(text, "\n") + "\n\n" + word; marked {
		text += "\n\n<!--" + marker
	}
	return text
}

// on writes until the function it returns is called.
func (s *scribes) on() (stop func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond): // people are not faster
				s.write()
			}
		}
	}()
	return func() { close(over); <-ended }
}

// missing lists the differences from the required state. Each thing is one issue and one card, and
// each word is on both, or is kept in a comment.
func (s *scribes) missing() (faults []string) {
	issues, cards := s.op.world.Repo.Issues(), s.op.world.Project.Cards()
	s.mu.Lock()
	defer s.mu.Unlock()
	for thing, words := range s.words {
		is := slices.DeleteFunc(slices.Clone(issues), func(i githubtest.IssueState) bool { return i.Title != thing })
		cs := slices.DeleteFunc(slices.Clone(cards), func(c planningtest.CardState) bool { return c.Title != thing })
		if len(is) != 1 || len(cs) != 1 || len(cs[0].Tasks) != 1 {
			faults = append(faults, fmt.Sprintf("%s: %d issues, %d cards %+v", thing, len(is), len(cs), cs))
			continue
		}
		comments := ""
		for _, c := range is[0].Comments {
			comments += c.Body
		}
		for _, word := range words {
			if both := strings.Contains(is[0].Body, word) && strings.Contains(cs[0].Summary, word); !both && !strings.Contains(comments, word) {
				faults = append(faults, fmt.Sprintf("%s: no %s in %q and %q and %q", thing, word, is[0].Body, cs[0].Summary, comments))
			}
		}
	}
	if len(issues) != len(s.words) || len(cards) != len(s.words) {
		faults = append(faults, fmt.Sprintf("%d issues and %d cards of %d things", len(issues), len(cards), len(s.words)))
	}
	return faults
}

// doubts is beyond the time for which reads of an issue that may lag are not believed,
// several times over.
const doubts = 4 * patience

// whole waits until nothing is missing, and says what is.
func (s *scribes) whole(when string) {
	s.op.t.Helper()
	ctx, cancel := context.WithTimeout(s.op.t.Context(), doubts)
	defer cancel()
	if s.op.world.Until(ctx, func() bool { return len(s.missing()) == 0 }) != nil {
		s.op.t.Fatalf("%s:\n%s", when, strings.Join(s.missing(), "\n"))
	}
}
