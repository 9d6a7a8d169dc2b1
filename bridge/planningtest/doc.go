// Package planningtest holds a simulator of the planning service: stateful,
// over real HTTP on a loopback address, written from the service's document
// alone. It serves tests and the demonstration program, never production.
// Numbers of sections and endpoints are those of docs/planning-api.md.
//
// Its entry point is [Start]. A [Server] has projects ([Server.AddProject]). On a [Project] a test
// acts as people do in the planning service's own pages (NewCard, EditCard, MoveCard, DeleteTask
// …). It reads the state (Card, Cards, Tasks, History) with every value and version.
//
// Where the document is silent the service may behave in several ways. Each is a switch in
// [Traits], whose zero value is the plainest service that the document allows. A [Fault] makes
// calls go wrong. The journal ([Server.Journal]) has all calls. A test waits for a state of the
// world with [Server.Wait], which wakes on every change.
//
// Everything is safe for concurrent use, and the same calls in the same order
// give the same ids, versions and answers.
//
// GET on the server's URL lists the content for people as text, with ids and secrets, for use with
//
//	curl -H 'Authorization: secret SECRET' URL/api/projects/ID/backlog/items
package planningtest
