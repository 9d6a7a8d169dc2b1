// Package planningtest holds a simulator of the planning service: stateful,
// over real HTTP on a loopback address, written from the service's document
// alone. It serves tests and the demonstration program, never production.
// Numbers of sections and endpoints are those of docs/planning-api.md.
//
// Its door is [Start]. A [Server] has projects ([Server.AddProject]); on a
// [Project] a test acts as people do in the planning service's own pages
// (NewCard, EditCard, MoveCard, DeleteTask …) and looks at what is there
// (Card, Cards, Tasks, History) with every value and version.
//
// Where the document is silent the service may behave in several ways; each
// is a switch in [Traits], whose zero value is the plainest service that the
// document allows. What can go wrong on the way is a [Fault]. What was asked
// of the service stands in the journal ([Server.Journal]). A test waits for a
// state of the world with [Server.Wait], which wakes on every change.
//
// Everything is safe for concurrent use, and the same calls in the same order
// give the same ids, versions and answers.
//
// A person can look, too: GET on the server's URL lists what is there as
// text, with ids and secrets, for use with
//
//	curl -H 'Authorization: secret SECRET' URL/api/projects/ID/backlog/items
package planningtest
