package mapping_test

import (
	"fmt"

	"planbridge/mapping"
)

// Both sides were edited since they last agreed: the texts in different lines, and the titles to
// different words. The texts are merged. The route's policy decides about the titles, and the
// loser has to be kept before anything is written. A merge goes to planning first, and to GitHub
// by the next plan.
func ExampleResolve() {
	link := &mapping.Link{Pair: mapping.Pair{State: mapping.Linked, Base: map[mapping.Attribute]mapping.Base{
		mapping.Title:   {GitHub: "Login fails", Planning: "Login fails", Version: 3},
		mapping.Summary: {GitHub: "first\n\nlast", Planning: "first\n\nlast", Version: 5},
	}}}
	route := &mapping.Route{
		Policies: map[mapping.Attribute]mapping.Policy{mapping.Title: mapping.PolicyGitHub}, DefaultPolicy: mapping.PolicyMerge,
	}
	plan := mapping.Resolve(mapping.Input{
		Link: link, Route: route,
		GitHub: mapping.View{
			mapping.Title:   {Value: "Login fails in Safari"},
			mapping.Summary: {Value: "first, on GitHub\n\nlast"},
		},
		Planning: mapping.View{
			mapping.Title:   {Value: "Login is broken", Version: 4},
			mapping.Summary: {Value: "first\n\nlast, in planning", Version: 6},
		},
	})
	for _, d := range plan.Decisions {
		fmt.Printf("%s: %s, a value loses: %v\n", d.Attribute, d.Action, d.Loses)
		if d.Planning != nil {
			fmt.Printf("  to planning under version %d: %q\n", d.Planning.Version, d.Planning.To)
		}
		if d.GitHub != nil {
			fmt.Printf("  to GitHub: %q\n", d.GitHub.To)
		}
	}
	// Output:
	// title: conflict, a value loses: true
	//   to planning under version 4: "Login fails in Safari"
	// summary: merge, a value loses: false
	//   to planning under version 6: "first, on GitHub\n\nlast, in planning"
}
