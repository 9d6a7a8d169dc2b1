// Package github is planbridge's adapter to GitHub: it turns issues into
// [mapping.Issue] and the bridge's decisions into REST calls, and it verifies
// and reads webhooks.
//
// Its door is [New]: a [Client] whose methods are one request each (listings:
// one walk). Webhooks have three functions of their own: [VerifySignature],
// [Payload] and [ParseEvent].
//
// A request passes through these layers, outermost first:
//
//	do        path, turn and budget of a write, classification of the answer
//	auth      the token, or the App's installation token
//	etag      conditional reads; a 304 becomes the snapshot its ETag came with
//	wire      gate of the rate limits, breaker, metrics, the whole body
//
// go-github builds the requests but does not send them: its client refuses
// calls on its own after a limit (for an hour after a secondary 403), takes a
// 202 and a 304 for errors and a replayed PATCH for a success.
//
// Every error of a Client matches exactly one of mapping's sentinels or types
// and is wrapped once, with operation and object. A Client is safe for
// concurrent use.
package github
