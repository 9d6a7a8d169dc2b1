package githubtest

import "time"

// Traits are habits of GitHub that can be switched at any time with
// [Server.SetTraits]. The zero value is a GitHub on its best day.
type Traits struct {
	// StaleReads makes reads of one issue show its state that long ago.
	StaleReads time.Duration
	// ListLag makes listings of issues show the world as it was that long ago.
	ListLag time.Duration
	// StaleList freezes listings of issues at the moment it is switched on.
	StaleList bool
	// NoPush takes push access from every token: labels, assignees and
	// milestones of issues are dropped in silence, labels cannot be edited.
	NoPush bool
	// NoSubIssues makes the sub-issue endpoints answer 404, as an older
	// Enterprise Server does.
	NoSubIssues bool
	// NoViewer is the status with which GET /user and GraphQL's viewer are
	// refused; 0: they are answered.
	NoViewer int
	// NoGraphQL is the status with which GraphQL is refused; 0: it is answered.
	NoGraphQL int
	// CursorPages makes listings of issues page by after= alone; a page=
	// beyond the first is refused with 422.
	CursorPages bool
	// Redirect307 answers writes to renamed and transferred things with 307
	// instead of 301.
	Redirect307 bool
	// DiscussionRedirect answers for an issue that was converted to a
	// discussion with a redirect to that instead of 410.
	DiscussionRedirect bool
	// RefuseControl refuses titles and bodies with control characters, and BareRefusals omits the
	// field of a refused text.
	RefuseControl, BareRefusals bool
	// RateLimit is the primary limit of requests an hour; 0: 5000.
	RateLimit int
	// ContentPerMinute and ContentPerHour are the secondary limits on requests that make issues and
	// comments. PointsPerMinute is the limit on points: a read has 1, any other request 5. 0: none.
	ContentPerMinute, ContentPerHour, PointsPerMinute int
	// GraphQLPointsPerMinute is GraphQL's own limit on points: a query has 1, a request with
	// mutations 5. 0: none.
	GraphQLPointsPerMinute int

	// SplitEdits sends one edited event for each of title and body.
	SplitEdits bool
	// OpenedBare sends opened without the labels the issue was opened with.
	OpenedBare bool
	// WebCRLF turns the line ends of every text that a person saves to CRLF, as the web editor
	// does. The field of the same name in [IssueEdit] does so for one edit.
	WebCRLF bool

	// Drop is the share of deliveries, 0 to 1, that never arrive. They are
	// listed by the deliveries API as failed, unless LoseDropped is set.
	Drop float64
	// LoseDropped keeps dropped deliveries out of the deliveries API.
	LoseDropped bool
	// Double is the share of deliveries that arrive twice.
	Double float64
	// Reorder holds each delivery for a random time up to this.
	Reorder time.Duration
	// Delay holds every delivery that long, in order.
	Delay time.Duration
	// HoursLate is Delay in hours; Advance makes them arrive.
	HoursLate int
	// EchoBeforeAnswer delivers the webhooks of an API write before the
	// write is answered.
	EchoBeforeAnswer bool
	// FormPayload sends webhooks as application/x-www-form-urlencoded.
	FormPayload bool
}

// SetTraits changes the traits; f gets those in force.
func (s *Server) SetTraits(f func(*Traits)) {
	s.locked(func() {
		frozen := s.traits.StaleList
		f(&s.traits)
		if s.traits.StaleList && !frozen {
			s.frozen = s.age()
		}
	})
	s.wakeDispatcher()
}

// listTime is the moment whose world a listing of issues shows.
func (s *Server) listTime() time.Duration {
	at := s.age() - s.traits.ListLag
	if s.traits.StaleList {
		at = min(at, s.frozen)
	}
	return at
}
