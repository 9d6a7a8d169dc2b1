package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"planbridge/config"
)

// files writes files to a directory of their own and returns it.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestInclude: routes and users of other files, relative to the file that names them, follow those
// of the file. Its defaults hold for them.
func TestInclude(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"planbridge.yaml": minimal + "include: [teams/api.yaml, teams/empty.yaml]\nusers: file:people/users.yaml\ndefaults: {tasks: none}\n",
		"teams/api.yaml": "users: {hubot: bob}\n" +
			"routes:\n  - repository: acme/api\n    project: web\n    bucket: API\n    bucket_by_label: {zeta: Z, alpha: A}\n",
		"teams/empty.yaml":  "# nothing yet\n",
		"people/users.yaml": "octocat: alice\n",
	})
	c, err := config.Load(filepath.Join(dir, "planbridge.yaml"), environ)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"octocat": "alice", "hubot": "bob"}, c.Users); diff != "" {
		t.Error(diff)
	}
	if len(c.Routes) != 2 {
		t.Fatalf("%d routes", len(c.Routes))
	}
	api := c.Routes[1]
	if api.Name != "acme/api" || api.Tasks != config.NoTasks || api.File != filepath.Join(dir, "teams/api.yaml") || api.Line != 3 {
		t.Errorf("route %+v", api)
	}
	if diff := cmp.Diff([]string{"zeta", "alpha"}, api.BucketLabels); diff != "" {
		t.Error(diff)
	}
}

// TestIncludeFaults: the faults of all files are told together, each with its file and line.
func TestIncludeFaults(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{
		"planbridge.yaml": minimal + "include: [a.yaml, gone.yaml, a.yaml, broken.yaml]\nusers: {octocat: alice}\n",
		"a.yaml": "users: {Octocat: bob, octocat: carol}\nserver: {listen: x}\n" +
			"routes:\n  - repository: acme/web\n    project: wbe\n    bucket: Incoming\n    tasks: some\n",
		"broken.yaml": "routes: [\n",
	})
	_, err := config.Load(filepath.Join(dir, "planbridge.yaml"), environ)
	var faults config.Faults
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(faults.Error(), dir+string(filepath.Separator), "")
	want := `planbridge.yaml:13:19: include[1]: "gone.yaml", expected a file that can be read: no such file or directory
planbridge.yaml:13:30: include[2]: "a.yaml", expected a file that is not read already
a.yaml:1:18: users.Octocat: the key "Octocat", expected it once: "octocat" is the same on GitHub
a.yaml:1:32: users.octocat: a second time, expected once: it stands in planbridge.yaml:14 already
a.yaml:2:1: server: unknown key, expected one of users, routes
a.yaml:4:5: routes[0].name: nothing, expected a name, as routes[0] on line 10 is called "acme/web" too
a.yaml:5:14: routes[0].project: "wbe", expected a project of planning.projects (web); did you mean "web"?
a.yaml:7:12: routes[0].tasks: "some", expected one of sub_issues, checklist, none
broken.yaml:1:9: not YAML: sequence end token ']' not found, expected YAML`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestUsersFileFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"users: file:none.yaml\n":  `planbridge.yaml:13:8: users: "none.yaml", expected a file that can be read: no such file or directory`,
		"users: users.yaml\n":      `planbridge.yaml:13:8: users: "users.yaml", expected a mapping, or file:PATH`,
		"users: file:users.yaml\n": `users.yaml:2:8: users.hubot: true, expected text: in quotes, "true"`,
	} {
		dir := files(t, map[string]string{"planbridge.yaml": minimal + text, "users.yaml": "octocat: alice\nhubot: true\n"})
		_, err := config.Load(filepath.Join(dir, "planbridge.yaml"), environ)
		if err == nil || strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "") != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestReloadReadsAllFiles: a change of an included file is in force after a reload, and a bad
// one changes nothing.
func TestReloadReadsAllFiles(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"planbridge.yaml": minimal + "include: [more.yaml]\n", "more.yaml": ""})
	r, err := config.NewReloader(filepath.Join(dir, "planbridge.yaml"), environ)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) error {
		if err := os.WriteFile(filepath.Join(dir, "more.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := r.Reload()
		return err
	}
	if err := write("users: {octocat: alice}\n"); err != nil || r.Current().Users["octocat"] != "alice" {
		t.Errorf("%v, users %v", err, r.Current().Users)
	}
	if err := write("usres: {}\n"); err == nil || r.Current().Users["octocat"] != "alice" {
		t.Errorf("%v, users %v", err, r.Current().Users)
	}
}

// TestSeveralRepositories: a list of repositories makes one route, and says by new_cards_in
// where its cards become issues.
func TestSeveralRepositories(t *testing.T) {
	t.Parallel()
	several := func(more string) string {
		return strings.Replace(minimal, "repository: acme/web", "repositories: [acme/web, acme/api, 'acme/lib-*']\n    name: all"+more, 1)
	}
	r := parse(t, several("")).Routes[0]
	if diff := cmp.Diff([]string{"acme/web", "acme/api", "acme/lib-*"}, r.Patterns()); diff != "" || r.CreateIssues || r.NewCardsIn != "" {
		t.Error(diff, r.CreateIssues, r.NewCardsIn)
	}
	r = parse(t, several("\n    new_cards_in: acme/lib-c")).Routes[0]
	if !r.CreateIssues || r.NewCardsIn != "acme/lib-c" {
		t.Error(r.CreateIssues, r.NewCardsIn)
	}
	other := "  - {repository: acme/lib-c, project: web, bucket: Other}\n"
	for text, want := range map[string]string{
		strings.Replace(several(""), "    name: all\n", "", 1):                                                                `p.yaml:10:5: routes[0].name: nothing, expected a name, as the route has several repositories`,
		several("\n    repository: acme/web"):                                                                                 `p.yaml:10:19: routes[0].repositories: both repository and repositories, expected one of the two`,
		several("\n    new_cards_in: acme/cli"):                                                                               `p.yaml:12:19: routes[0].new_cards_in: "acme/cli", expected a repository that the route is for`,
		several("\n    new_cards_in: acme/*"):                                                                                 `p.yaml:12:19: routes[0].new_cards_in: "acme/*", expected owner/name`,
		several("\n    create_issues: true"):                                                                                  `p.yaml:12:20: routes[0].create_issues: true, expected false, as a glob does not say in which repository an issue would be made`,
		several("\n    new_cards_in: acme/lib-c") + other:                                                                     `p.yaml:12:19: routes[0].new_cards_in: "acme/lib-c", expected a repository that is no other route's: it is that of routes[1] on line 15`,
		strings.Replace(minimal, "repository: acme/web", "repositories: []\n    name: all", 1):                                `p.yaml:10:19: routes[0].repositories: none, expected one repository or more`,
		strings.Replace(minimal, "repository: acme/web", "repositories: [acme/web, ACME/web]\n    name: all", 1):              `p.yaml:10:30: routes[0].repositories[1]: "ACME/web", expected each repository once`,
		strings.Replace(minimal, "repository: acme/web", "repositories: [web]\n    name: all", 1):                             `p.yaml:10:20: routes[0].repositories[0]: "web", expected owner/name, or a glob in the name such as owner/*`,
		strings.Replace(minimal, "repository: acme/web", "repositories: [acme/web]\n    name: all\n    exclude: [acme/x]", 1): `p.yaml:12:14: routes[0].exclude: an exclusion, expected none, as the repository is no glob`,
	} {
		_, err := config.Parse([]byte(text), "p.yaml", environ)
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
