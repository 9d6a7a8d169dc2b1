package main

import (
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
)

// TestCheckExpand: each repository that is named, or that a glob's owner has, is told with its
// route and why it has that.
func TestCheckExpand(t *testing.T) {
	op := older(t, bridgetest.Options{})
	for _, name := range []string{"acme/api", "acme/old", "acme/Lib"} {
		op.world.GitHub.AddRepo(name, githubtest.RepoSpec{Private: true})
	}
	op.write(func(yaml string) string {
		return yaml + "  - {repository: 'acme/[al]*', exclude: [acme/api], name: rest, project: web, bucket: Bugs}\n"
	})
	text := op.fine("check", "--expand")
	for _, want := range []string{
		"acme/api  -  -  -  route rest excludes it",
		"acme/Lib  rest  web  Bugs  no route names it, and it matches acme/[al]*",
		"acme/old  -  -  -  no route is for it",
		"acme/web  acme/web  web  Incoming  it is named",
	} {
		if !strings.Contains(plain(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestCheckAgainstRunning: faults come first, a summary counts, and what a reload would change
// is told before it.
func TestCheckAgainstRunning(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one")
	op.fine("import")
	if err := op.world.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	if text := plain(op.fine("check", "-q", "--against-running")); !strings.Contains(text, "ok  running service: a reload changes no route\n") {
		t.Errorf("check:\n%s", text)
	}
	admin := op.world.App.AdminAddr()
	op.write(replace(`admin_listen: "127.0.0.1:0"`, `admin_listen: "`+admin+`"`, "repository: acme/web", "repository: acme/web\n    name: site"))
	text := plain(op.fine("check", "-q", "--against-running"))
	if strings.Count(text, "ok  ") != 2 || !strings.Contains(text, "0 faults, ") {
		t.Errorf("check -q:\n%s", text)
	}
	for _, want := range []string{
		"what a reload changes of the routes: added site; removed acme/web\n",
		"1 link of route acme/web goes by route site, which takes such issues now\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
