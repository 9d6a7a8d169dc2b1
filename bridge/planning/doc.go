// Package planning is the client of the planning service: all sixteen
// endpoints of its integration API, in the terms of package mapping.
// Numbers of endpoints are those of docs/planning-api.md, 4.
//
// Its door is [New], which makes one [Client] for one planning project, with
// that project's own secret, circuit breaker and back-off. Reads are retried a
// few times; writes never are, and their errors say whether they may have had
// an effect: [mapping.ErrUnavailable] (none), [mapping.ErrUncertain] (unknown),
// [mapping.VersionConflict], [mapping.Rejection] and the other faults of
// package mapping, each wrapped once with the operation and its object.
//
// The service's documentation leaves much open: status codes, the shape of a
// conflict, how ids, numbers and empty values are spelt. What is read here is
// therefore read tolerantly (wire.go for the values, conflict.go for the
// answers to updates), and unknown fields are never an error.
package planning
