package planningtest

import (
	"planbridge/bridge/planningtest/planningmodel"
)

// What the service is behind its HTTP is package planningmodel's. These are the
// names by which its users here know it.
type (
	// Project is a project of the service and the door to act in it as people do.
	Project = planningmodel.Project
	// ProjectSpec is what a new project starts with.
	ProjectSpec = planningmodel.ProjectSpec
	// CardSpec is what a person gives a new card, and CardEdit what one can change.
	CardSpec = planningmodel.CardSpec
	CardEdit = planningmodel.CardEdit
	// TaskSpec is what a person gives a new task, and TaskEdit what one can change.
	TaskSpec = planningmodel.TaskSpec
	TaskEdit = planningmodel.TaskEdit
	// SprintSpec is a sprint as a person plans it.
	SprintSpec = planningmodel.SprintSpec
	// CardState, TaskState and SprintState are all there is to an item.
	CardState   = planningmodel.CardState
	TaskState   = planningmodel.TaskState
	SprintState = planningmodel.SprintState
	// Value is one value that an attribute held.
	Value = planningmodel.Value

	// Traits says how the service behaves where its document is silent.
	Traits           = planningmodel.Traits
	StatusByKind     = planningmodel.StatusByKind
	ConflictShape    = planningmodel.ConflictShape
	EmptySummary     = planningmodel.EmptySummary
	HTMLInAnswers    = planningmodel.HTMLInAnswers
	BatchOrder       = planningmodel.BatchOrder
	SprintForm       = planningmodel.SprintForm
	BucketIDAccepted = planningmodel.BucketIDAccepted
)

// The values of the traits.
const (
	ConflictAttributes = planningmodel.ConflictAttributes
	ConflictItem       = planningmodel.ConflictItem
	ConflictCurrent    = planningmodel.ConflictCurrent
	ConflictErrors     = planningmodel.ConflictErrors
	ConflictEmpty      = planningmodel.ConflictEmpty
	ConflictText       = planningmodel.ConflictText
	ConflictArray      = planningmodel.ConflictArray

	EmptyString = planningmodel.EmptyString
	EmptyNull   = planningmodel.EmptyNull
	EmptyObject = planningmodel.EmptyObject

	HTMLOnWrites = planningmodel.HTMLOnWrites
	HTMLAlways   = planningmodel.HTMLAlways
	HTMLNever    = planningmodel.HTMLNever

	BatchSame     = planningmodel.BatchSame
	BatchReversed = planningmodel.BatchReversed
	BatchShuffled = planningmodel.BatchShuffled

	SprintFlat   = planningmodel.SprintFlat
	SprintNested = planningmodel.SprintNested
	SprintBoth   = planningmodel.SprintBoth

	BucketIDBoth    = planningmodel.BucketIDBoth
	BucketIDListing = planningmodel.BucketIDListing
	BucketIDState   = planningmodel.BucketIDState
)

// Mangle is a harmful rewrite for [Traits.RewriteMarkdown].
func Mangle(markdown string) string { return planningmodel.Mangle(markdown) }

// or returns v, or def where v is the zero value.
func or[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
