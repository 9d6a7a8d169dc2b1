// Package planningmodel is the planning service as a state machine, written
// from the service's document alone: projects with their buckets, cards, tasks
// and sprints, every attribute with its version, and what the API may do to
// them. It knows no HTTP and no JSON. It reads no clock, draws no random number
// and starts no goroutine: both come in through [Options], so that the same
// calls in the same order give the same ids, versions and results.
//
// Its door is [New]. People act through a [Project] as they do in the service's
// own pages (NewCard, EditCard, MoveCard, DeleteTask …); these acts and the
// states that they leave (Card, Cards, Tasks, History) serve tests. The API's
// sixteen endpoints are the methods of a [Session]. [Service.Clone] and
// [Service.Restore] are a backup and its return, and [Service.Digest] tells
// whether two states are the same.
//
// Package planningtest serves the model over HTTP, with faults.
package planningmodel
