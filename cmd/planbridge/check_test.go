package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/preflight"
	"planbridge/mapping"
)

// A store that a running service holds is looked at through it.
func TestCheckLinksOfService(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one", "two")
	op.fine("import")
	if err := op.world.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	if text := plain(op.fine("check")); !strings.Contains(text, "ok  links: all 2 are where their routes lead\n") {
		t.Errorf("check:\n%s", text)
	}
	admin := op.world.App.AdminAddr()
	op.write(replace(`admin_listen: "127.0.0.1:0"`, `admin_listen: "`+admin+`"`, "bucket: Incoming", "bucket: Later"))
	if text := plain(op.fine("check")); !strings.Contains(text, `ok  links: route acme/web: 2 links stay with acme/web and bucket "Incoming": the route is for acme/web and bucket "Later"`) {
		t.Errorf("check of another bucket:\n%s", text)
	}
	op.write(nil) // the address is that of no service
	if text := plain(op.fine("check")); !strings.Contains(text, "warn  links: whether links stay where no route leads now was not looked at: ") {
		t.Errorf("check without the service's address:\n%s", text)
	}
}

// What is not the whole list, or no list, is not counted.
func TestCheckLinksBroken(t *testing.T) {
	op := older(t, bridgetest.Options{})
	if err := op.world.StartBridge(); err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		`{"links":[{"id":"a"}],"more":false,"error":"the store broke"}`: "the list of links is not complete: the store broke",
		`{"links":[{"id":"a"}],"more":true}`:                            "there are more than 1000000 links",
		`{"links":[{"id":"a"}`:                                          "the list of links is not planbridge's: ",
		`["links"]`:                                                     "the list of links is not planbridge's: ",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		t.Cleanup(s.Close)
		op.write(replace(`admin_listen: "127.0.0.1:0"`, `admin_listen: "`+s.Listener.Addr().String()+`"`))
		if text := plain(op.fine("check")); !strings.Contains(text, "leads now was not looked at: ") || !strings.Contains(text, want) {
			t.Errorf("check with %s:\n%s", answer, text)
		}
	}
}

// TestCheckGroupsRepositories: what is true of many repositories is one line.
func TestCheckGroupsRepositories(t *testing.T) {
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
	if got := together(all); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestCheckGroupsWhatNamesDiffer: a fault that concerns many is one line, also where its words name
// the repository or the route.
func TestCheckGroupsWhatNamesDiffer(t *testing.T) {
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
	for _, f := range together(all) {
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

// TestCheckKeepsNumbersThatAreTheSame: deliveries of one hook of an account are the same for all its
// repositories, and the line says how many.
func TestCheckKeepsNumbersThatAreTheSame(t *testing.T) {
	const words = "of 3 deliveries of the last day 2 failed, the newest of them at 2026-11-29T01:32:25Z with status 502"
	got := together([]preflight.Finding{{Place: "repository acme/a", Words: words}, {Place: "repository acme/b", Words: words}, {Place: "repository acme/c", Words: words}})
	if want := []preflight.Finding{{Place: "repositories acme/a, acme/b, acme/c", Words: words}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestCheckCountsItsLines: what holds for several repositories is one line, and counts as one.
func TestCheckCountsItsLines(t *testing.T) {
	var out strings.Builder
	err := (&checkCmd{}).report(&out, []preflight.Finding{
		{Level: preflight.LevelWarn, Place: "repository acme/a", Words: "there is no webhook"},
		{Level: preflight.LevelWarn, Place: "repository acme/b", Words: "there is no webhook"},
		{Level: preflight.LevelOK, Place: "store", Words: "it can be read"},
	})
	if text := out.String(); err != nil || strings.Count(text, "warn") != 2 || !strings.HasSuffix(text, "\n0 faults, 1 warning, 1 ok\n") {
		t.Errorf("%v:\n%s", err, text)
	}
}
