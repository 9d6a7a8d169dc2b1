package planningtest

import (
	"planbridge/bridge/planningtest/planningmodel"
)

// Package planningmodel is the service behind its HTTP. Its types have names here, too.

type (
	// Project is a project of the service, in which tests act as people do.
	Project = planningmodel.Project
	// ProjectSpec has the values of a new project.
	ProjectSpec = planningmodel.ProjectSpec
	// CardSpec has a person's values for a new card.
	CardSpec = planningmodel.CardSpec
	// CardEdit has the values of a card that a person can change.
	CardEdit = planningmodel.CardEdit
	// TaskSpec has a person's values for a new task.
	TaskSpec = planningmodel.TaskSpec
	// TaskEdit has the values of a task that a person can change.
	TaskEdit = planningmodel.TaskEdit
	// SprintSpec is a sprint as a person plans it.
	SprintSpec = planningmodel.SprintSpec
	// CardState is the whole state of a card.
	CardState = planningmodel.CardState
	// TaskState is the whole state of a task.
	TaskState = planningmodel.TaskState
	// SprintState is the whole state of a sprint.
	SprintState = planningmodel.SprintState
	// Value is one value that an attribute had.
	Value = planningmodel.Value

	// Traits says how the service behaves where its document is silent.
	Traits = planningmodel.Traits
	// StatusByKind holds a status for each kind of call; 0 means 200.
	StatusByKind = planningmodel.StatusByKind
	// ConflictShape is a shape of the answer to a version conflict.
	ConflictShape = planningmodel.ConflictShape
	// EmptySummary is a form of a summary without text.
	EmptySummary = planningmodel.EmptySummary
	// HTMLInAnswers says which answers carry the html of a summary.
	HTMLInAnswers = planningmodel.HTMLInAnswers
	// BatchOrder is an order of a batch create's answer.
	BatchOrder = planningmodel.BatchOrder
	// SprintForm is a form of a sprint's items.
	SprintForm = planningmodel.SprintForm
	// Validators are the headers that separate an answer from a later one.
	Validators = planningmodel.Validators
	// BucketIDAccepted says which id names a bucket in a path.
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

	StrongETag   = planningmodel.StrongETag
	WeakETag     = planningmodel.WeakETag
	LastModified = planningmodel.LastModified

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
