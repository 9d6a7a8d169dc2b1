package status

import (
	"context"
	"io"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// Operator carries out operators' requests. All methods are safe for concurrent use.
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
	// Paused returns the time when each paused route was paused.
	Paused(ctx context.Context) (map[string]time.Time, error)
	// AcceptRepository and AcceptAccount accept the present holder of a name in place of the former
	// one. They return [store.ErrNotFound] where the name was never met, and [ErrState] where it
	// has no other holder.
	AcceptRepository(ctx context.Context, name string) error
	AcceptAccount(ctx context.Context, login string) error
	// Rebuild lists all marked items again, and restores missing links, before anything is created.
	Rebuild(ctx context.Context) error
}

// Finder finds links.
type Finder interface {
	Links(ctx context.Context, route string, visit func(*mapping.Link) error) error
	// Find wraps store.ErrNotFound where no item has that name, and [ErrName] where none can have
	// it.
	Find(ctx context.Context, name string) (*mapping.Link, error)
	// FindNumbered is Find for requests that only show an item: it also takes a number alone.
	FindNumbered(ctx context.Context, name string) (*mapping.Link, error)
	History(ctx context.Context, l *mapping.Link, limit int) ([]mapping.Entry, error)
	// ProjectName is the name of a project, its id where planning.projects does not name it.
	ProjectName(project mapping.ObjectID) (name string, named bool)
}

// Explainer reads both services.
type Explainer interface {
	// Outside says why an issue or a card that FindNumbered does not know has no link. It wraps
	// store.ErrNotFound where there is no such item, and [ErrAway] where the service did not
	// answer.
	Outside(ctx context.Context, name string) (*Outside, error)
	// Preview reads both items of a link now and returns the plan of the next reconcile; nil where
	// there is no pair yet.
	Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error)
}

// Queues list waiting keys and failures.
type Queues interface {
	Overview(ctx context.Context) (map[string]store.Depth, error)
	// Standing returns the state of a link's key in the queue.
	Standing(ctx context.Context, l *mapping.Link) (store.Standing, error)
	// Standings lists keys that are in the queue and not due, in the order of
	// [store.CompareStandings].
	Standings(ctx context.Context, limit int) ([]store.Standing, error)
	// ServiceWords names for people the service that a key waits for, by its
	// [store.Standing].Service.
	ServiceWords(service string) string
	// SharedServiceWords names for people several services of one kind that keys wait for; "": the
	// service has a kind of its own.
	SharedServiceWords(service string) string
	// Failing reports whether a key waits for another attempt after a failure.
	Failing(at *store.Standing) bool
	// Worker names this process where it works a key; "" where another one does.
	Worker(key store.Key) string
	Failures(ctx context.Context) ([]store.Failure, error)
	// Retry wraps store.ErrNotFound where no failure has that name.
	Retry(ctx context.Context, name string) (int, error)
}

// Ledger has the conflicts.
type Ledger interface {
	Conflicts(ctx context.Context, limit int) ([]mapping.Conflict, error)
	// Questions lists the newest open questions, those of one link where link is not "", and
	// counts all of them by route.
	Questions(ctx context.Context, link mapping.LinkID, limit int) ([]mapping.Conflict, map[string]int, error)
	// ResolveConflict and UndoConflict wrap store.ErrNotFound where the ledger has no such entry,
	// and [ErrState] where the entry cannot be resolved or undone.
	ResolveConflict(ctx context.Context, id string, winner mapping.Side) error
	UndoConflict(ctx context.Context, id string) error
}

// Remover parts pairs and removes texts.
type Remover interface {
	// Unlink parts the pair of a link. Its errors are those of Find, and [ErrState] while the key
	// is being worked.
	Unlink(ctx context.Context, name string) error
	// Erase removes texts. Its errors are those of Find, and [ErrState] while a key is being
	// worked.
	Erase(ctx context.Context, ask EraseAsk) (Erased, error)
}

// Archive writes out the store's content.
type Archive interface {
	// Backup writes the store's content, as a file of store/backup. It returns [ErrState] for an
	// empty store, before it writes anything.
	Backup(ctx context.Context, w io.Writer, version string) error
	// Export visits the rows of an export, each of an ExportedXxx type. It returns
	// store.ErrNotFound where there is no such route or project.
	Export(ctx context.Context, ask ExportAsk, visit func(row any) error) error
}
