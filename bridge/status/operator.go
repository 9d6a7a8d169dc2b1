package status

import (
	"context"
	"io"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// Operator does what operators ask for. All methods are safe for
// concurrent use.
type Operator interface {
	Finder
	Explainer
	Queues
	Ledger
	Remover
	Archive
	// Routes lists the configured routes.
	Routes() []*mapping.Route
	// Counts counts the links by route and state.
	Counts(ctx context.Context) (map[string]map[mapping.LinkState]int, error)
	// Burndowns are the charts of the projects' sprints, by the projects' names,
	// active sprints first.
	Burndowns(ctx context.Context) (map[string][]mapping.Burndown, error)
	// Pause and Resume wrap store.ErrNotFound where there is no such route.
	Pause(ctx context.Context, route string) error
	Resume(ctx context.Context, route string) error
	// Paused tells since when each paused route is.
	Paused(ctx context.Context) (map[string]time.Time, error)
	// AcceptRepository and AcceptAccount have the one believed that has a name now in
	// place of the one that had it: [store.ErrNotFound] where the name was never met,
	// [ErrState] where no other has it.
	AcceptRepository(ctx context.Context, name string) error
	AcceptAccount(ctx context.Context, login string) error
	// Rebuild has everything that is marked looked at again, and missing links
	// restored, before anything is created.
	Rebuild(ctx context.Context) error
}

// Finder finds links.
type Finder interface {
	Links(ctx context.Context, route string, visit func(*mapping.Link) error) error
	// Find wraps store.ErrNotFound where nothing has that name, [ErrName]
	// where nothing can have it.
	Find(ctx context.Context, name string) (*mapping.Link, error)
	// FindNumbered is Find for what is only shown: it takes a number alone, too.
	FindNumbered(ctx context.Context, name string) (*mapping.Link, error)
	History(ctx context.Context, l *mapping.Link, limit int) ([]mapping.Entry, error)
	// ProjectName is the name of a project, its id where planning.projects does not name it.
	ProjectName(project mapping.ObjectID) (name string, named bool)
}

// Explainer reads both services.
type Explainer interface {
	// Outside says why an issue or a card that FindNumbered does not know has no link. It wraps
	// store.ErrNotFound where nothing is there, and [ErrAway] where that could not be asked.
	Outside(ctx context.Context, name string) (*Outside, error)
	// Preview reads both items of a link now and says what the next reconcile
	// would do; nil where there is no pair yet.
	Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error)
}

// Queues tell what waits, and what was given up.
type Queues interface {
	Overview(ctx context.Context) (map[string]store.Depth, error)
	// Standing tells where the key of a link stands in the queue.
	Standing(ctx context.Context, l *mapping.Link) (store.Standing, error)
	// Standings lists keys that are in the queue and not due, in the order of
	// [store.CompareStandings].
	Standings(ctx context.Context, limit int) ([]store.Standing, error)
	// ServiceWords says to people what a key waits for, by its [store.Standing].Service.
	ServiceWords(service string) string
	// SharedServiceWords says what keys wait for that wait for several services of one kind;
	// "": the service has a kind of its own.
	SharedServiceWords(service string) string
	// Failing reports whether a key waits for another attempt after a failure.
	Failing(at *store.Standing) bool
	// Worker names this process where it works a key; "" where another one does.
	Worker(key store.Key) string
	Failures(ctx context.Context) ([]store.Failure, error)
	// Retry wraps store.ErrNotFound where no failure has that name.
	Retry(ctx context.Context, name string) (int, error)
}

// Ledger is the conflicts.
type Ledger interface {
	Conflicts(ctx context.Context, limit int) ([]mapping.Conflict, error)
	// Questions lists the newest open questions, those of one link where link is not "", and
	// counts all of them by route.
	Questions(ctx context.Context, link mapping.LinkID, limit int) ([]mapping.Conflict, map[string]int, error)
	// ResolveConflict and UndoConflict wrap store.ErrNotFound where the ledger
	// has no such entry, [ErrState] where it is not one to be resolved or undone.
	ResolveConflict(ctx context.Context, id string, winner mapping.Side) error
	UndoConflict(ctx context.Context, id string) error
}

// Remover parts pairs and removes texts.
type Remover interface {
	// Unlink parts the pair of a link; errors as those of Find, [ErrState] while
	// it is being worked.
	Unlink(ctx context.Context, name string) error
	// Erase removes texts; errors as those of Find, [ErrState] while a link is
	// being worked.
	Erase(ctx context.Context, ask EraseAsk) (Erased, error)
}

// Archive writes out what the store holds.
type Archive interface {
	// Backup writes what the store holds, as a file of store/backup; [ErrState] where
	// there is nothing worth it, before anything is written.
	Backup(ctx context.Context, w io.Writer, version string) error
	// Export visits the rows of an export, each one of the ExportedXxx types;
	// store.ErrNotFound where there is no such route or project.
	Export(ctx context.Context, ask ExportAsk, visit func(row any) error) error
}
