package preflight_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/preflight"
	"planbridge/mapping"
)

// TestGroupsRepositories: a fact about many repositories is one line.
func TestGroupsRepositories(t *testing.T) {
	find := func(level preflight.Level, place, words string) preflight.Finding {
		return preflight.Finding{Level: level, Place: place, Words: words}
	}
	all := []preflight.Finding{find(preflight.LevelOK, "store", "it is there")}
	for i := range 5 {
		all = append(all, find(preflight.LevelWarn, fmt.Sprintf("repository acme/r%d", i), "the webhook fails"))
		if i < 2 {
			all = append(all, find(preflight.LevelOK, fmt.Sprintf("repository acme/r%d", i), "issues can be written"))
		}
	}
	all = append(all, find(preflight.LevelOK, "repository acme/r2", "issues can be read"))
	want := []preflight.Finding{
		all[0], find(preflight.LevelWarn, "repositories acme/r0, acme/r1, acme/r2 and 2 more", "the webhook fails"),
		find(preflight.LevelOK, "repositories acme/r0, acme/r1", "issues can be written"), all[len(all)-1],
	}
	if got := preflight.Group(all); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestGroupsWhereNamesDiffer: a fault that concerns many is one line, also where its words name
// the repository or the route.
func TestGroupsWhereNamesDiffer(t *testing.T) {
	var all []preflight.Finding
	add := func(place, words string) {
		all = append(all, preflight.Finding{Level: preflight.LevelFault, Place: place, Words: words})
	}
	for i, name := range []string{"a", "b", "c", "d"} {
		add("repository acme/"+name, fmt.Sprintf("of %s of the last day %d failed, the newest of them at 2026-11-29T01:32:2%dZ with status 502", mapping.Count(i+1, "delivery", "deliveries"), i+1, i))
		add("repository acme/"+name, "it cannot be read: github: read repository acme/"+name+": unavailable: answer 503")
		add("repository acme/"+name, "route "+name+": it is public")
		add("planning web", "route "+name+`: there is no bucket "In"`)
	}
	add("planning web", `route e: there is no bucket "Out"`)
	add("repository acme/a", "route z: it is public")
	add("planning other", `route f: there is no bucket "In"`)
	var got []string
	for _, f := range preflight.Group(all) {
		got = append(got, f.Place+": "+f.Words)
	}
	want := []string{
		"repositories acme/a, acme/b, acme/c and 1 more: of … deliveries of the last day … failed, the newest of them at … with status 502",
		"repositories acme/a, acme/b, acme/c and 1 more: it cannot be read: github: read repository …: unavailable: answer 503",
		"repositories acme/a, acme/b, acme/c and 1 more: it is public",
		`planning web: routes a, b, c and 1 more: there is no bucket "In"`,
		`planning web: route e: there is no bucket "Out"`, "repository acme/a: route z: it is public", `planning other: route f: there is no bucket "In"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestGroupKeepsEqualNumbers: deliveries of one hook of an account are the same for all its
// repositories, and the line says how many.
func TestGroupKeepsEqualNumbers(t *testing.T) {
	const words = "of 3 deliveries of the last day 2 failed, the newest of them at 2026-11-29T01:32:25Z with status 502"
	got := preflight.Group([]preflight.Finding{{Place: "repository acme/a", Words: words}, {Place: "repository acme/b", Words: words}, {Place: "repository acme/c", Words: words}})
	if want := []preflight.Finding{{Place: "repositories acme/a, acme/b, acme/c", Words: words}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
