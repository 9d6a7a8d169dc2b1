package mapping

// These bounds keep a link's data from growing for ever, whatever people do. A bound that
// belongs to one list stands with that list; the others stand here.
//
// The texts of a record (its base, its pending and late writes, its children and parts) are
// bounded by the record's size alone. Their number is bounded as well: by the attributes
// (base, refusals, questions), by four late writes of each attribute, 32 consumed edits, the
// writes of the last seconds (written values, steps) or of the settle time (pending writes
// that await an echo), eight former issues, and the lines of four bodies.
const (
	// MaxRecord bounds an encoded record, in bytes after compression, as Redis keeps it. Each save
	// sends the whole record, and a script of Redis keeps all others waiting.
	// It has room for some fifty sub-issues with 16 KiB of prose each, or for some thousand
	// checklist items.
	MaxRecord = 512 << 10
	// MaxPlainRecord bounds the same record before compression: a reader holds it in
	// memory, and the file store keeps it so. Prose reaches MaxRecord before.
	MaxPlainRecord = 4 << 20
	// MaxRemovedLines bounds the checklist items that are kept whole after their line
	// was removed, the latest of them: a line that is put back after a mistake
	// goes on as it was. Of older ones the id of the task is kept.
	MaxRemovedLines = 50
	// MaxForgottenTasks bounds those ids. It is the highest tasks_per_card, so that the
	// tasks of a card that the bridge made are all counted.
	MaxForgottenTasks = 10_000
	// MaxHistory bounds the entries of a link's history, as people read them.
	MaxHistory = 50
	// MaxHistoryBytes bounds these entries together, in bytes of JSON: some 200 each are
	// usual, and 50 of them with an error of a service.
	MaxHistoryBytes = 32 << 10
	// MaxWhy bounds the reason in one of them, in bytes.
	MaxWhy = 1000
)
