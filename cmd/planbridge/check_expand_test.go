package main

import (
	"regexp"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/config"
	"planbridge/store/redisstore/redistest"
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

// TestCheckResumed: links of a project that the running service does not name are dormant by its
// configuration alone. The file names the project again: check says that they are worked again.
func TestCheckResumed(t *testing.T) {
	for name, url := range map[string]func(*testing.T) string{
		"file":  func(*testing.T) string { return "" },
		"Redis": func(t *testing.T) string { return redistest.Start(t).URL },
	} {
		t.Run(name, func(t *testing.T) {
			op := older(t, bridgetest.Options{Store: url(t)}, "one", "two")
			op.fine("import")
			if err := op.world.StartBridge(); err != nil {
				t.Fatal(err)
			}
			op.admin()
			if err := op.world.Settled(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
			second := op.world.Planning.AddProject(planningtest.ProjectSpec{Title: "API", Members: []string{bridgetest.BridgeUser}, Buckets: []string{bridgetest.Bucket}})
			unnamed := strings.NewReplacer("    web:\n", "    api:\n", "project: web", "project: api", op.world.Project.ID(), second.ID(),
				"PLANNING_WEB_SECRET", "API_SECRET").Replace(op.world.YAML())
			env := func(name string) (string, bool) {
				if name == "API_SECRET" {
					return second.Secret(), true
				}
				return op.world.Env(name)
			}
			c, err := config.Parse([]byte(unnamed), "planbridge.yaml", env)
			if err == nil {
				err = op.world.App.Reload(t.Context(), c)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := "ok  links: 2 dormant links of route acme/web are worked again\n"
			if text := plain(op.fine("check", "-q", "--against-running")); !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
			if err := op.world.StopBridge(); err != nil {
				t.Fatal(err)
			}
			// A key that is due at the reload, as after a delivery that came late, is dormant in the store as well.
			stored := regexp.MustCompile(`(?m)^ok  links: (all 2 are where their routes lead|(1 dormant link|2 dormant links) of route acme/web (is|are) worked again)$`)
			if text := plain(op.fine("check", "--against-running")); !stored.MatchString(text) || !strings.Contains(text, "it was not asked for its routes") {
				t.Errorf("where no service runs:\n%s", text)
			}
		})
	}
}
