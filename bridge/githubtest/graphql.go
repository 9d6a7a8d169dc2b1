package githubtest

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var nodeIDs = regexp.MustCompile(`\bI_kwDO[\w-]+`)

// graphql reports whether a call is one of GraphQL's, which has limits of its own.
func (c *call) graphql() bool { return c.route != nil && c.route.op == "graphql" }

// graphqlRequest is a document with its variables.
type graphqlRequest struct {
	Query     string         `json:"query"`
	Variables map[string]any `json:"variables"`
}

// postGraphQL answers the documents that planbridge sends. These are userContentEdits of an issue
// by its node id, given inline or as a variable. Others ask for labels of repositories by name, or
// change the labels of issues. The answer has more fields than were asked for; it has no paging.
func postGraphQL(c *call) reply {
	if c.who.token == nil {
		return fail(401, "This endpoint requires you to be authenticated.")
	}
	var q graphqlRequest
	if bad := c.decode(&q); bad != nil {
		return *bad
	}
	switch {
	case c.s.traits.NoGraphQL != 0:
		return fail(c.s.traits.NoGraphQL, http.StatusText(c.s.traits.NoGraphQL))
	case c.write:
		return c.mutateLabels(q)
	case labelQuery.MatchString(q.Query):
		return c.labelIDs(q)
	case strings.Contains(q.Query, "viewer") && c.s.traits.NoViewer != 0:
		return fail(c.s.traits.NoViewer, http.StatusText(c.s.traits.NoViewer))
	case strings.Contains(q.Query, "viewer"):
		return ok(fields{"data": fields{"viewer": fields{"login": c.who.login}}})
	case !strings.Contains(q.Query, "userContentEdits"):
		return ok(fields{"errors": []fields{{"type": "undefinedField", "message": "githubtest does not know this field"}}})
	}
	id := nodeIDs.FindString(string(c.body))
	for _, r := range c.s.repos {
		for _, i := range r.all() {
			if nodeID("I", i.id) == id && c.s.canRead(c.who, r) {
				return ok(fields{"data": fields{"node": fields{
					"__typename": "Issue", "id": id,
					"userContentEdits": c.contentEdits(i),
				}}})
			}
		}
	}
	return ok(fields{"data": fields{"node": nil}, "errors": []fields{{
		"type": "NOT_FOUND", "path": []string{"node"},
		"message": "Could not resolve to a node with the global id of '" + id + "'",
	}}})
}

// contentEdits are the body's texts, newest first, the original last; GitHub keeps none before the
// first edit. diff is the whole text.
func (c *call) contentEdits(i *issue) fields {
	held := i.history["body"]
	nodes := []fields{}
	for n, v := range slices.Backward(held) {
		if len(held) > 1 {
			nodes = append(nodes, fields{
				"id": nodeID("UCE", i.id+int64(n)), "createdAt": stamp(v.Time),
				"editedAt": stamp(v.Time), "updatedAt": stamp(v.Time), "deletedAt": nil, "diff": v.Value,
				"editor": fields{"__typename": c.s.user(v.User).kind, "login": strings.TrimSuffix(v.User, "[bot]")},
			})
		}
	}
	return fields{
		"totalCount": len(nodes), "nodes": nodes,
		"pageInfo": fields{"hasNextPage": false, "endCursor": nil, "hasPreviousPage": false, "startCursor": nil},
	}
}
