// Package planning is the client of the planning service: all sixteen endpoints of its
// integration API, in the terms of package mapping. Numbers of endpoints are those of
// docs/planning-api.md, 4.
//
// Its entry point is [New]. It makes a [Client] for one planning project, with that project's
// secret, circuit breaker and back-off. Reads are retried a few times, writes never. The error of a
// write says whether it may have had an effect: [mapping.ErrUnavailable] had none, of
// [mapping.ErrUncertain] it is unknown. Others are [mapping.VersionConflict], [mapping.Rejection]
// and the other faults of package mapping. Each is wrapped once with the operation and its object.
//
// The service's documentation leaves much open: status codes, the shape of a conflict, the
// spelling of ids, numbers and empty values. The client therefore reads tolerantly (wire.go the
// values, conflict.go the answers to updates). Unknown fields are never an error.
package planning
