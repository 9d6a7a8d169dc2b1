package mapping

// These bounds keep a link's data from growing for ever, whatever people do. A bound that
// belongs to one list stands with that list; the others stand here.
//
// The texts of a record (its base, its pending and late writes, its children and parts) are bounded
// by the record's size alone. Other bounds hold their number. The base, refusals and questions have
// one for each attribute. Each attribute has at most four late writes, and a link at most 32
// consumed edits and eight former issues. Written values and steps last seconds, and pending writes
// that await an echo last the settle time. Lines are kept for four bodies.
const (
	// MaxRecord bounds an encoded record, in bytes after compression, as Redis keeps it. Each save
	// sends the whole record, and all others wait while a script of Redis runs. It has room for
	// some fifty sub-issues with 16 KiB of prose each, or for some thousand checklist items.
	MaxRecord = 512 << 10
	// MaxPlainRecord bounds the same record before compression: a reader holds it in memory, and
	// the file store keeps it uncompressed. Prose reaches MaxRecord first.
	MaxPlainRecord = 4 << 20
	// MaxRemovedLines bounds the latest removed checklist items that are kept whole. A line that is
	// put back after a mistake then goes on as it was. Of older ones the id of the task is kept.
	MaxRemovedLines = 50
	// MaxForgottenTasks bounds those ids. It is the highest tasks_per_card, so that all tasks of a
	// card that the bridge made are counted.
	MaxForgottenTasks = 10_000
	// MaxHistory bounds the entries of a link's history, as people read them.
	MaxHistory = 50
	// MaxHistoryBytes bounds these entries together, in bytes of JSON. An entry usually has some
	// 200, and the bound has room for 50 entries with an error of a service.
	MaxHistoryBytes = 32 << 10
	// MaxWhy bounds the reason in one of them, in bytes.
	MaxWhy = 1000
)
