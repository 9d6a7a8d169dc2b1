// Package github is planbridge's adapter to GitHub. It converts issues to [mapping.Issue] and the
// bridge's decisions to REST calls. It also verifies and reads webhooks.
//
// Its entry point is [New]. Each method of a [Client] is one request, or one walk of a listing.
// Three functions are for webhooks: [VerifySignature], [Payload] and [ParseEvent].
//
// A request passes these layers, outermost first:
//
//	do        path, turn and budget of a write, classification of the answer
//	auth      the token, or the App's installation token
//	etag      conditional reads; a 304 becomes the snapshot of its ETag
//	wire      gate of the rate limits, breaker, metrics, the whole body
//
// go-github builds the requests but does not send them. Its client refuses calls after a limit by
// itself, for an hour after a secondary 403. It treats a 202 and a 304 as errors, and a replayed
// PATCH as a success.
//
// Every error of a Client matches exactly one of mapping's sentinels or types. It is wrapped
// once, with operation and object. A Client is safe for concurrent use.
package github
