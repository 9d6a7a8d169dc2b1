// Package planningmodel is the planning service as a state machine, written from the service's
// document alone. It has projects with their buckets, cards, tasks and sprints, and every attribute
// with its version. It allows the API's changes of them. It knows no HTTP and no JSON. It reads no
// clock, draws no random number and starts no goroutine, as the first two come in through
// [Options]. So the same calls in the same order give the same ids, versions and results.
//
// Its entry point is [New]. People act through a [Project] as they do in the service's own pages
// (NewCard, EditCard, MoveCard, DeleteTask …). These acts and the resulting states (Card, Cards,
// Tasks, History) serve tests. The API's sixteen endpoints are the methods of a [Session]. The
// methods [Service.Clone] and [Service.Restore] are a backup and its return. The method
// [Service.Digest] identifies a state.
//
// Package planningtest serves the model over HTTP, with faults.
package planningmodel
