package planningmodel

// Traits says how the service behaves where its document is silent, or where
// real data showed more than one behaviour. The zero value is the plainest
// behaviour that the document allows.
type Traits struct {
	// ConflictStatus answers an update whose version is not the current one; 0 means 409. With 200
	// only the values show that nothing was written.
	ConflictStatus int
	// ConflictShape says how that answer carries the current values.
	ConflictShape ConflictShape
	// SuccessStatus are the statuses of calls that succeed.
	SuccessStatus StatusByKind

	// EmptySummary is how a summary without text is shown.
	EmptySummary EmptySummary
	// HTMLInAnswers says which answers carry a summary's html.
	HTMLInAnswers HTMLInAnswers
	// NumericStrings shows estimates as text: "5".
	NumericStrings bool
	// FloatNumbers shows estimates and counters with a fraction: 5.0.
	FloatNumbers bool
	// BareOIDs shows object ids as plain strings.
	BareOIDs bool
	// UnknownFields adds attributes and members the document does not know.
	UnknownFields bool
	// OmitOptional leaves out parts that real answers were seen without. These are type of a single
	// task, status of a sprint's counters, and of created tasks owner, ownerType, type,
	// timeEntriesTotal and _order.
	OmitOptional bool
	// BatchOrder is the order of a batch create's answer.
	BatchOrder BatchOrder

	// SprintForm is how a sprint's items show the tasks of its cards.
	SprintForm SprintForm
	// SprintCardsInBacklog keeps cards that are in a sprint in the listings
	// of their bucket, and their state at the bucket's id.
	SprintCardsInBacklog bool
	// BucketIDsDiffer gives the bucket listings (endpoints 2 to 4) an id that
	// is not the one in the cards' state and the project's backlogBuckets.
	BucketIDsDiffer bool
	// BucketIDAccepted says which of the two ids endpoints 4, 5 and 6 take.
	BucketIDAccepted BucketIDAccepted

	// Validators are the headers by which the service shows that an answer did not change.
	Validators Validators
	// Gzip compresses answers for clients that take that.
	Gzip bool

	// NormaliseMarkdown stores texts with changes that render the same: line
	// ends, trailing white space, bullets.
	NormaliseMarkdown bool
	// StripControl stores texts without their control characters.
	StripControl bool
	// RewriteMarkdown, if set, changes every stored text; see [Mangle].
	RewriteMarkdown func(markdown string) string

	// SameValueRaisesVersion raises versions on a PUT of the value that is
	// stored already.
	SameValueRaisesVersion bool
	// StateVersionSticks answers a task PUT with state at its old version,
	// although the stored version rises.
	StateVersionSticks bool
	// StateVersionKept does not raise the version of state on a PUT at all.
	StateVersionKept bool
	// CreateEstimateVersion1 creates cards with their estimate at version 1.
	CreateEstimateVersion1 bool
	// TaskEditRaisesCardVersion lets an edit of a task's title or summary
	// show in its card's version; state and estimate always do.
	TaskEditRaisesCardVersion bool

	// MaxTitle refuses longer titles, in characters; 0 means no limit.
	MaxTitle int
	// MaxBatch refuses longer batches; 0 means no limit.
	MaxBatch int
	// RefuseEstimate refuses negative estimates, and fractions on cards.
	RefuseEstimate bool
	// RefusalStatus answers a refused value; 0 means 400.
	RefusalStatus int
	// UnknownUserStatus answers a write in the name of somebody who is not a
	// member with write permission; 0 means 400.
	UnknownUserStatus int
	// MissingItemStatus answers a call for a missing item; 0 means 404.
	MissingItemStatus int
}

// StatusByKind holds a status for each kind of call; 0 means 200. A 204 is
// sent without a body.
type StatusByKind struct{ Read, Create, Update int }

// Validators are the headers that separate an answer to a read from a later one.
type Validators string

// The validators of answers.
const (
	NoValidators Validators = ""
	StrongETag   Validators = "strong"   // ETag: "…"
	WeakETag     Validators = "weak"     // ETag: W/"…"
	LastModified Validators = "modified" // the second of the last change
)

// ConflictShape is a shape of the answer to a version conflict.
type ConflictShape string

// The shapes of a version conflict's answer.
const (
	ConflictAttributes ConflictShape = "attributes" // like a success: the attributes at top level; the default
	ConflictItem       ConflictShape = "item"       // the whole item under "item"
	ConflictCurrent    ConflictShape = "current"    // the attributes under "current"
	ConflictErrors     ConflictShape = "errors"     // one element an attribute under "errors"
	ConflictEmpty      ConflictShape = "empty"      // words, no values
	ConflictText       ConflictShape = "text"       // words in plain text
	ConflictArray      ConflictShape = "array"      // the attributes in an array of one element
)

// EmptySummary is a form of a summary without text.
type EmptySummary string

// The forms of a summary without text.
const (
	EmptyString EmptySummary = "string" // ""; the default
	EmptyNull   EmptySummary = "null"   // null
	EmptyObject EmptySummary = "object" // {"markdown": ""}
)

// HTMLInAnswers says which answers carry the html of a summary.
type HTMLInAnswers string

// The answers that can carry html.
const (
	HTMLOnWrites HTMLInAnswers = "writes" // created and updated items; the default
	HTMLAlways   HTMLInAnswers = "always"
	HTMLNever    HTMLInAnswers = "never"
)

// BatchOrder is an order of a batch create's answer.
type BatchOrder string

// The orders of a batch create's answer.
const (
	BatchSame     BatchOrder = "same" // as sent; the default
	BatchReversed BatchOrder = "reversed"
	BatchShuffled BatchOrder = "shuffled"
)

// SprintForm is a form of a sprint's items.
type SprintForm string

// The forms of a sprint's items.
const (
	SprintFlat   SprintForm = "flat"   // task-shaped entries after their card; the default
	SprintNested SprintForm = "nested" // cards with a tasks array
	SprintBoth   SprintForm = "both"
)

// BucketIDAccepted says which id names a bucket in a path.
type BucketIDAccepted string

// The ids that can name a bucket in a path.
const (
	BucketIDBoth    BucketIDAccepted = "both" // the default
	BucketIDListing BucketIDAccepted = "listing"
	BucketIDState   BucketIDAccepted = "state"
)

// or returns v, or def where v is the zero value.
func or[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
