package github

import (
	"strconv"
	"time"
)

// How the shapes of wiretypes.go are read by a [scanner]: what an event needs
// of them.

func (s *scanner) user(w *wireUser) {
	s.object(func(name []byte) {
		switch string(name) {
		case "login":
			s.text(&w.Login)
		case "type":
			s.text(&w.Type)
		default:
			s.skip()
		}
	})
}

func (s *scanner) repo(w *wireRepo) {
	s.object(func(name []byte) {
		switch string(name) {
		case "id":
			s.int64(&w.ID)
		case "full_name":
			s.text(&w.FullName)
		case "visibility":
			s.text(&w.Visibility)
		case "private":
			optional(s, &w.Private, s.boolean)
		case "archived":
			s.boolean(&w.Archived)
		default:
			s.skip()
		}
	})
}

// optional reads a value that may be missing: null says that it is.
func optional[T any](s *scanner, v **T, read func(*T)) {
	if s.peek() == 'n' {
		s.skip()
		*v = nil
		return
	}
	if *v == nil {
		*v = new(T)
	}
	read(*v)
}

func (s *scanner) label(w *named) {
	if s.peek() == '"' {
		*w = named(s.quoted())
		return
	}
	*w = ""
	s.inside("name", func() { s.text((*string)(w)) })
}

func (s *scanner) stamp(v *stamp) {
	switch c := s.peek(); {
	case c == '-' || c-'0' < 10:
		var n int64
		s.int64(&n)
		*v = stamp(time.Unix(n, 0).UTC())
	case s.is('"'):
		text := s.quoted()
		if len(text) == 0 {
			return
		}
		t, err := time.Parse(time.RFC3339, string(text))
		s.wrong = s.wrong || err != nil
		*v = stamp(t.UTC())
	}
}

// listed reads an array into v.
func listed[T any](s *scanner, v *[]T, read func(*T)) {
	*v = nil
	s.array(func() {
		var item T
		read(&item)
		*v = append(*v, item)
	})
}

func (s *scanner) issue(w *wireIssue) {
	s.object(func(name []byte) {
		switch string(name) {
		case "id":
			s.int64(&w.ID)
		case "node_id":
			s.text(&w.NodeID)
		case "url":
			s.text(&w.URL)
		case "repository_url":
			s.text(&w.RepositoryURL)
		case "number":
			s.int(&w.Number)
		case "title":
			s.text(&w.Title)
		case "body":
			s.text(&w.Body)
		case "state":
			s.text(&w.State)
		case "state_reason":
			s.text(&w.StateReason)
		case "labels":
			listed(s, &w.Labels, s.label)
		case "assignees":
			listed(s, &w.Assignees, s.user)
		case "author_association":
			s.text(&w.Association)
		case "user":
			s.user(&w.User)
		case "locked":
			s.boolean(&w.Locked)
		case "created_at":
			s.stamp(&w.CreatedAt)
		case "updated_at":
			s.stamp(&w.UpdatedAt)
		default:
			s.issueParts(name, w)
		}
	})
}

// issueParts reads what most issues do not have.
func (s *scanner) issueParts(name []byte, w *wireIssue) {
	switch string(name) {
	case "milestone":
		optional(s, &w.Milestone, func(m *struct{ Number int }) {
			s.inside("number", func() { s.int(&m.Number) })
		})
	case "pull_request":
		if w.PullRequest = nil; s.peek() != 'n' {
			w.PullRequest = true
		}
		s.skip()
	case "repository":
		optional(s, &w.Repository, s.repo)
	case "sub_issues_summary":
		w.SubIssues = s.summary()
	default:
		s.skip()
	}
}

// summary reads how many sub-issues there are, in the form that any has.
func (s *scanner) summary() any {
	if s.peek() != '{' {
		s.skip()
		return nil
	}
	var told any
	s.inside("total", func() {
		if c := s.peek(); c-'0' >= 10 {
			s.skip()
			return
		}
		if n, err := strconv.ParseFloat(string(s.number()), 64); err == nil {
			told = n
		}
	})
	return map[string]any{"total": told}
}

func (s *scanner) changes(w *wireChanges) {
	s.object(func(name []byte) {
		switch string(name) {
		case "title":
			optional(s, &w.Title, s.from)
		case "body":
			optional(s, &w.Body, s.from)
		case "old_issue":
			optional(s, &w.OldIssue, s.issue)
		case "old_repository":
			optional(s, &w.OldRepository, s.repo)
		case "new_issue":
			optional(s, &w.NewIssue, s.issue)
		case "new_repository":
			optional(s, &w.NewRepository, s.repo)
		case "repository":
			s.inside("name", func() { s.from(&w.Repository.Name) })
		case "owner":
			s.inside("from", func() {
				s.object(func(name []byte) {
					switch string(name) {
					case "user":
						optional(s, &w.Owner.From.User, s.user)
					case "organization":
						optional(s, &w.Owner.From.Organization, s.user)
					default:
						s.skip()
					}
				})
			})
		default:
			s.skip()
		}
	})
}

// inside reads one value of an object.
func (s *scanner) inside(want string, read func()) {
	s.object(func(name []byte) {
		if string(name) == want {
			read()
			return
		}
		s.skip()
	})
}

func (s *scanner) from(w *wireFrom) {
	s.inside("from", func() { optional(s, &w.From, s.text) })
}

func (s *scanner) comment(w *wireComment) {
	s.object(func(name []byte) {
		switch string(name) {
		case "id":
			s.int64(&w.ID)
		case "user":
			s.user(&w.User)
		case "body":
			s.text(&w.Body)
		case "created_at":
			s.stamp(&w.CreatedAt)
		default:
			s.skip()
		}
	})
}
