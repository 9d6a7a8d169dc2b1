package githubtest

import (
	"testing"
	"time"
)

const (
	askTwo = `query($o0: String!, $r0: String!, $n0: String!, $n1: String!) { r0: repository(owner: $o0, name: $r0) { ` +
		`l0: label(name: $n0) { id name } l1: label(name: $n1) { id name } } }`
	relabelTwo = `mutation($i0: ID!, $l0: [ID!]!, $i1: ID!, $l1: [ID!]!) { ` +
		`m0: addLabelsToLabelable(input: {labelableId: $i0, labelIds: $l0}) { labelable { labels(first: 100) { nodes { name } } } } ` +
		`m1: removeLabelsFromLabelable(input: {labelableId: $i1, labelIds: $l1}) { labelable { labels(first: 100) { nodes { name } } } } }`
)

func (w *world) graphql(document string, variables fields, header ...string) result {
	w.t.Helper()
	return w.do("POST", "/graphql", fields{"query": document, "variables": variables}, header...)
}

// TestMutationOfSeveralIssues: a mutation leaves events and webhooks behind as REST does, for
// each issue by itself. One that fails keeps no other back.
func TestMutationOfSeveralIssues(t *testing.T) {
	w := newWorld(t, Options{})
	w.r.Open("ann", IssueSpec{Title: "one"})
	w.r.Open("ann", IssueSpec{Title: "two", Labels: []string{"bug", "late"}})
	w.hooked("issues")
	w.events()
	found := w.graphql(askTwo, fields{"o0": "acme", "r0": "web", "n0": "BUG", "n1": "none"}).want(200)
	bug := found.obj("data", "r0", "l0")["id"]
	equal(t, "a label that is not there", found.obj("data", "r0")["l1"], nil)

	one, two := w.r.Issue(1).NodeID, w.r.Issue(2).NodeID
	done := w.graphql(relabelTwo, fields{"i0": one, "l0": []any{bug}, "i1": two, "l1": []any{bug}}).want(200)
	equal(t, "errors", done.obj()["errors"], nil)
	equal(t, "one", w.r.Issue(1).Labels, []string{"bug"})
	equal(t, "two", w.r.Issue(2).Labels, []string{"late"})
	got := w.expect("issues.labeled", "issues.unlabeled")
	equal(t, "sender", got[0].at("sender", "login"), bot)
	equal(t, "writes", w.s.Writes(), 1)

	w.r.Delete(1)
	w.events()
	done = w.graphql(relabelTwo, fields{"i0": one, "l0": []any{bug}, "i1": two, "l1": []any{bug}}).want(200)
	equal(t, "data", done.obj()["data"], fields{"m0": nil, "m1": fields{"labelable": fields{"labels": fields{"nodes": []fields{{"name": "late"}}}}}})
	gone := done.obj()["errors"].([]any)[0].(fields)
	equal(t, "why", []any{gone["type"], gone["path"]}, []any{"NOT_FOUND", []any{"m0"}})

	w.graphql(relabelTwo, fields{"i0": two, "l0": []any{bug}, "i1": two, "l1": []any{bug}}, "Authorization", "Bearer "+weakToken).want(200)
	equal(t, "without the right to push", w.r.Issue(2).Labels, []string{"late"})
}

// TestGraphQLHasLimitsOfItsOwn: a request with mutations has five points of GraphQL's minute,
// and none of REST's.
func TestGraphQLHasLimitsOfItsOwn(t *testing.T) {
	w := newWorld(t, Options{Traits: Traits{PointsPerMinute: 1, GraphQLPointsPerMinute: 6}})
	w.r.Open("ann", IssueSpec{Title: "one", Labels: []string{"bug"}})
	again := fields{"i0": w.r.Issue(1).NodeID, "l0": []any{}, "i1": w.r.Issue(1).NodeID, "l1": []any{}}
	equal(t, "resource", w.graphql(relabelTwo, again).want(200).header.Get("X-Ratelimit-Resource"), "graphql")
	w.graphql(askTwo, fields{"o0": "acme", "r0": "web", "n0": "bug", "n1": "bug"}).want(200)
	w.graphql(askTwo, fields{"o0": "acme", "r0": "web", "n0": "bug", "n1": "bug"}).want(403)
	equal(t, "used of REST's hour", w.get("/user").want(200).header.Get("X-Ratelimit-Used"), "1")
	w.s.Advance(time.Minute)
	w.s.SetTraits(func(t *Traits) { t.NoGraphQL = 404 })
	w.graphql(relabelTwo, again).want(404)
}
