package open_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/store/redisstore/redistest"
)

// paired is a world that had a bridge, with an issue and its card for each of some titles. The
// function behind edit changes the configuration.
func paired(t *testing.T, o bridgetest.Options, titles ...string) (c *checked, edit *func(string) string) {
	t.Helper()
	edit = new(func(string) string)
	*edit = replace()
	o.Config = func(yaml string) string { return (*edit)(yaml) }
	c = newChecked(t, o)
	if err := c.StartBridge(); err != nil {
		t.Fatal(err)
	}
	for _, title := range titles {
		c.Repo.Open("octocat", githubtest.IssueSpec{Title: title})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := c.Until(ctx, func() bool { return len(c.Project.Cards()) == len(titles) }); err != nil {
		t.Fatal("the cards were never made")
	}
	if err := c.Settled(ctx, 2); err != nil {
		t.Fatal(err)
	}
	if err := c.StopBridge(); err != nil {
		t.Fatal(err)
	}
	return c, edit
}

// pointed are the ways to point a route elsewhere, each with what a check says.
var pointed = []struct {
	name string
	edit func(string) string
	want string
}{
	{"nowhere else", replace(), "ok links: all 2 are where their routes lead\n"},
	{
		"bucket", replace("bucket: Incoming", "bucket: Later"),
		"ok links: route acme/web: 2 links stay with acme/web and bucket \"Incoming\": the route is for acme/web and bucket \"Later\" of project web, and planbridge moves no cards\n",
	},
	{
		"repository", replace("  - repository: acme/web\n", "  - repository: acme/other\n    name: acme/web\n"),
		"warn links: route acme/web: 2 links stay with acme/web and bucket \"Incoming\": the route is now for acme/other and bucket \"Incoming\" of project web",
	},
	{
		"name", replace("  - repository: acme/web\n", "  - repository: acme/web\n    name: site\n"),
		"ok links: 2 links of route acme/web go by route site, which takes such issues now\n",
	},
	{
		"excluded", replace("  - repository: acme/web\n", "  - repository: acme/*\n    name: acme/web\n    exclude: [acme/web]\n    new_cards_in: acme/other\n"),
		"warn links: 2 links of route acme/web are dormant with acme/web and bucket \"Incoming\": the route excludes that repository\n",
	},
	{
		"no route for them", replace("  - repository: acme/web\n", "  - repository: acme/other\n"),
		"warn links: 2 links of route acme/web, which the configuration has no more, stay with acme/web and bucket \"Incoming\", dormant\n",
	},
}

func TestCheckLinks(t *testing.T) {
	for name, url := range map[string]string{"bolt": "", "redis": redistest.Start(t).URL} {
		t.Run(name, func(t *testing.T) {
			c, edit := paired(t, bridgetest.Options{Store: url}, "one", "two")
			c.GitHub.AddRepo("acme/other", githubtest.RepoSpec{Private: true})
			for _, p := range pointed {
				*edit = p.edit
				got := c.findings()
				if !strings.Contains(got, p.want) || strings.Contains(got, "fault links") || strings.Count(got, " links: ") != 1 {
					t.Errorf("%s: no %q, or more, in\n%s", p.name, p.want, got)
				}
			}
		})
	}
}

// Links with only another name are where they were.
func TestCheckLinksRenamed(t *testing.T) {
	c, edit := paired(t, bridgetest.Options{}, "one")
	c.GitHub.RenameRepo(bridgetest.RepoName, "acme/site")
	c.has("it is called acme/site now", "ok links: all 1 are where")
	*edit = replace("  - repository: acme/web\n", "  - repository: acme/site\n    name: acme/web\n")
	c.has("ok links: all 1 are where")
	*edit = replace("bucket: Incoming", "bucket: "+c.Project.BucketID(bridgetest.Bucket))
	c.has("ok links: all 1 are where")
	*edit = replace("bucket: Incoming", "bucket: "+c.Project.BucketID("Later"))
	c.has(`the route is for acme/web and bucket "Later"`)
}

// A place that cannot be looked at is told of in one line.
func TestCheckLinksUnseen(t *testing.T) {
	c := newChecked(t, bridgetest.Options{})
	if err := c.StartBridge(); err != nil {
		t.Fatal(err)
	}
	c.has("warn links: whether links stay where no route leads now was not looked at: nobody answers\n")
	newChecked(t, bridgetest.Options{Store: "file:/nowhere/at/all.db"}).
		has("warn links: whether links stay where no route leads now was not looked at: the store cannot be used\n")
}
