package githubtest

import (
	"slices"
	"time"
)

// Call is one handled request. The entry is made after the effect and before the client has its
// answer.
type Call struct {
	Seq    int64 // 1 is the first since the start
	Time   time.Time
	Method string
	Path   string // with the query, as sent
	// Op is the readable name of the endpoint: user.get, issue.get,
	// issue.create, issue.patch, issues.list, labels.add, label.remove,
	// comment.create … (see routes.go); "unknown" where there is none. A
	// GraphQL mutation is graphql.labels, any other of its requests graphql.
	Op     string
	Repo   string // owner/name as the path says it; "" where it names none
	Number int    // of the issue; 0: none
	Status int    // of the answer, 304 included; 0: the connection was cut
	Login  string // whose token; "" for none
	Body   string // of the request
	Fault  string // kind of the fault that hit it, or "down"; "" for none
	write  bool
}

// Journal is every request so far, oldest first.
func (s *Server) Journal() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal)
}

// Calls counts the requests of the named operations, all where none is named.
func (s *Server) Calls(ops ...string) int {
	return s.count(func(c Call) bool { return len(ops) == 0 || slices.Contains(ops, c.Op) })
}

// Writes counts the requests that would change a repository, with any answer. Queries, redeliveries
// and access tokens are none.
func (s *Server) Writes() int { return s.count(func(c Call) bool { return c.write }) }

func (s *Server) count(which func(Call) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.journal {
		if which(c) {
			n++
		}
	}
	return n
}

// ResetJournal forgets the requests so far.
func (s *Server) ResetJournal() { s.locked(func() { s.journal = nil }) }
