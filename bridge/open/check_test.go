package open_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/open"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/preflight"
	"planbridge/bridge/settings"
	api "planbridge/bridge/status"
	"planbridge/config"
	"planbridge/store/redisstore/redistest"
)

// checked is a world whose configuration is proved.
type checked struct {
	*bridgetest.World
	t   *testing.T
	env map[string]string // over the world's own
	// hookURL is where webhooks that are missing are to lead.
	hookURL string
}

func newChecked(t *testing.T, o bridgetest.Options) *checked {
	t.Helper()
	o.Idle = true
	return &checked{bridgetest.StartIn(t, o).World, t, map[string]string{}, ""}
}

// hook makes the webhook that the world's bridge would get; it answers with the status.
func (c *checked) hook(target string, status int, events ...string) {
	c.t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	c.t.Cleanup(s.Close)
	c.GitHub.AddHook(target, s.URL+"/webhooks/github", bridgetest.WebhookSecret, events...)
	c.idle()
}

func (c *checked) idle() {
	c.t.Helper()
	if err := c.GitHub.Idle(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// nobodyRuns is where no service answers.
type nobodyRuns struct{}

func (nobodyRuns) EachLink(context.Context, func(api.Link)) error {
	return errors.New("nobody answers")
}

func (nobodyRuns) Unready(context.Context) (string, error) { return "", errors.New("nobody answers") }

// findings proves the world's configuration, one line a finding.
func (c *checked) findings() string {
	c.t.Helper()
	env := func(name string) (string, bool) {
		if v, ok := c.env[name]; ok {
			return v, true
		}
		return c.Env(name)
	}
	cfg, err := config.Parse([]byte(c.YAML()), "planbridge.yaml", env)
	if err != nil {
		c.t.Fatal(err)
	}
	plan, quiet := settings.Read(cfg).Plan(), slog.New(slog.DiscardHandler)
	plan.HookURL = c.hookURL
	var lines strings.Builder
	for _, f := range preflight.Check(c.t.Context(), plan, open.Preflight{Config: cfg, Running: nobodyRuns{}, Logger: quiet}, quiet) {
		fmt.Fprintf(&lines, "%s %s: %s\n", f.Level, f.Place, f.Words)
	}
	return lines.String()
}

// has wants each of some lines (or parts of them) among the findings.
func (c *checked) has(want ...string) {
	c.t.Helper()
	got := c.findings()
	for _, w := range want {
		if !strings.Contains(got, w) {
			c.t.Errorf("no finding %q among\n%s", w, got)
		}
	}
}

func replace(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }

func TestCheckAllWell(t *testing.T) {
	c := newChecked(t, bridgetest.Options{})
	c.hook(bridgetest.RepoName, http.StatusOK)
	before := c.Writes()
	got := c.findings()
	if strings.Contains(got, "fault ") || strings.Count(got, "warn ") != 1 {
		t.Errorf("faults, or more than the one warning of the username:\n%s", got)
	}
	for _, want := range []string{
		"planbridge.db is not there yet and will be made",
		`ok planning web: the secret opens the project "Web"`,
		"warn planning web: username bridge: reading cannot prove",
		`ok planning web: route acme/web: bucket "Incoming"`,
		"ok github: acting as planbridge-bot",
		"ok github: the token has the scopes repo, admin:repo_hook",
		"ok repository acme/web: issues and labels can be written",
		"ok repository acme/web: the webhook goes to 127.0.0.1:",
		"/webhooks/github; of 1 delivery of the last day none failed",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no finding %q among\n%s", want, got)
		}
	}
	if c.Writes() != before {
		t.Error("check wrote to a service")
	}
	if files, err := os.ReadDir(filepath.Dir(storePath(t, c))); err != nil || len(files) != 0 {
		t.Errorf("check left files: %v %v", files, err)
	}
}

// storePath is the file of the world's store.
func storePath(t *testing.T, c *checked) string {
	t.Helper()
	_, rest, _ := strings.Cut(c.YAML(), `url: "file:`)
	path, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatal("the world's store is no file")
	}
	return path
}

func TestCheckPlanning(t *testing.T) {
	t.Run("secret", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.env["PLANNING_WEB_SECRET"] = "another"
		c.has("fault planning web: the service refuses the secret, or the id", "ok github: acting as")
	})
	t.Run("down", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.Planning.Down(true)
		c.has("fault planning web: the service does not answer", "ok github: acting as", "repository acme/web")
	})
	t.Run("base_url", func(t *testing.T) {
		newChecked(t, bridgetest.Options{Planning: planningtest.Options{Prefix: "/planning"}, Config: replace("/planning\n", "/plan\n")}).
			has("fault planning web: there is no such project: its id or planning.base_url is wrong")
	})
	t.Run("owner", func(t *testing.T) {
		newChecked(t, bridgetest.Options{Config: replace("username: bridge", "username: alice")}).
			has("ok planning web: username alice owns the project")
	})
	t.Run("listing", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.Planning.Fault(planningtest.Fault{Op: planningtest.OpBucketList, Kind: planningtest.Before, Status: 404, Times: -1})
		c.has("fault planning web: its buckets cannot be listed")
	})
	t.Run("unused", func(t *testing.T) {
		var spare string
		c := newChecked(t, bridgetest.Options{Config: func(yaml string) string { return strings.Replace(yaml, "users:", spare+"users:", 1) }})
		p := c.Planning.AddProject(planningtest.ProjectSpec{Title: "Spare", Members: []string{"alice"}})
		c.env["SPARE"] = p.Secret()
		spare = fmt.Sprintf("    spare: {id: %q, secret: env:SPARE, username: alice}\n", p.ID())
		c.has(`ok planning spare: the secret opens the project "Spare"`, "warn planning spare: no route uses this project")
	})
}

func TestCheckCardLabel(t *testing.T) {
	c := newChecked(t, bridgetest.Options{Config: func(yaml string) string { return yaml + "labels: {card: \"card/{value}\"}\n" }})
	c.has("ok repository acme/web: labels.card is set: each issue of a card gets a label of its own, such as card/1")
}

func TestCheckBuckets(t *testing.T) {
	t.Run("unknown", func(t *testing.T) {
		newChecked(t, bridgetest.Options{Route: "bucket_by_label: {bug: Bug, later: Later}"}).has(
			`fault planning web: route acme/web: there is no bucket "Bug"; there are Incoming, Bugs, Later`,
			`ok planning web: route acme/web: bucket "Later"`,
		)
	})
	t.Run("ids that differ", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{Planning: planningtest.Options{Traits: planningtest.Traits{BucketIDsDiffer: true}}})
		c.has(`ok planning web: route acme/web: bucket "Incoming"`)
	})
	t.Run("two of one title", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.Project.AddBucket(bridgetest.Bucket)
		c.has(`warn planning web: route acme/web: 2 buckets are called "Incoming": give the id instead`)
	})
	t.Run("one list only", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{Route: "bucket_by_label: {later: Later}"})
		c.Planning.Fault(planningtest.Fault{Op: planningtest.OpBucketList, Kind: planningtest.HalfListing, Times: -1})
		c.has(`warn planning web: route acme/web: bucket "Later" is named by the project and missing in the list of buckets`)
	})
	t.Run("by id", func(t *testing.T) {
		var id string
		c := newChecked(t, bridgetest.Options{Config: func(yaml string) string {
			return strings.Replace(yaml, "bucket: Incoming", "bucket: "+id, 1)
		}})
		id = c.Project.BucketID(bridgetest.Bucket)
		c.has(`ok planning web: route acme/web: bucket "Incoming"`)
	})
}

func TestCheckAccount(t *testing.T) {
	t.Run("down", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.GitHub.Down(true)
		c.has("fault github: GitHub does not answer", "warn github: no repository was looked at", "ok planning web: the secret")
	})
	t.Run("refused", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.GitHub.RevokeToken(bridgetest.Token)
		c.has("fault github: the token (or the app's key) is refused", "no repository was looked at")
	})
	t.Run("no rate limits", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.GitHub.Fault(githubtest.Fault{When: func(c githubtest.Call) bool { return c.Path == "/rate_limit" }, Times: -1, Kind: githubtest.Before, Code: 404})
		c.has("ok github: acting as planbridge-bot", "warn github: what the token may do cannot be read here")
	})
	for scopes, want := range map[string]string{
		"gist": "fault github: the token has neither scope repo nor public_repo (it has: gist)",
		"":     "warn github: what a fine-grained token may do cannot be read",
	} {
		t.Run("scopes "+scopes, func(t *testing.T) {
			c := newChecked(t, bridgetest.Options{})
			c.GitHub.AddToken("ghp_narrow", bridgetest.Bot, githubtest.Scopes(strings.Fields(scopes)...))
			c.env["GITHUB_TOKEN"] = "ghp_narrow"
			c.has("ok github: acting as planbridge-bot", want)
		})
	}
}

func TestCheckRepository(t *testing.T) {
	t.Run("unknown", func(t *testing.T) {
		newChecked(t, bridgetest.Options{Config: replace("repository: acme/web", "repository: acme/wbe")}).
			has("fault repository acme/wbe: it is not there, or the token may not see it")
	})
	t.Run("renamed", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.GitHub.RenameRepo(bridgetest.RepoName, "acme/site")
		c.has("fault repository acme/web: it is called acme/site now")
	})
	t.Run("archived", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.Repo.Archive(true)
		c.has("fault repository acme/web: it is archived")
	})
	t.Run("no issues", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{Config: replace("repository: acme/web", "repository: acme/wiki")})
		c.GitHub.AddRepo("acme/wiki", githubtest.RepoSpec{Private: true, NoIssues: true})
		c.has("fault repository acme/wiki: its issues are switched off")
	})
	t.Run("public", func(t *testing.T) {
		newChecked(t, bridgetest.Options{Public: true}).
			has("fault repository acme/web: route acme/web: it is public and the route does not say allow_public")
	})
	t.Run("public and meant", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{Public: true, Route: "allow_public: true"})
		if got := c.findings(); strings.Contains(got, "is public") {
			t.Errorf("a repository that may be public:\n%s", got)
		}
		c.has("warn repository acme/web: route acme/web: anybody can open issues here; issues of strangers wait in quarantine")
		said := newChecked(t, bridgetest.Options{Public: true, Route: "allow_public: true\nissues: {quarantine: auto}"})
		if got := said.findings(); strings.Contains(got, "quarantine") {
			t.Errorf("a quarantine that the file speaks of:\n%s", got)
		}
	})
	t.Run("read only", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{})
		c.GitHub.AddToken("ghp_reader", bridgetest.Bot, githubtest.ReadOnly())
		c.env["GITHUB_TOKEN"] = "ghp_reader"
		c.has("fault repository acme/web: the token may only read here")
	})
	t.Run("read only and enough", func(t *testing.T) {
		c := newChecked(t, bridgetest.Options{Route: "direction: to_planning"})
		c.GitHub.AddToken("ghp_reader", bridgetest.Bot, githubtest.ReadOnly())
		c.env["GITHUB_TOKEN"] = "ghp_reader"
		if got := c.findings(); strings.Contains(got, "may only read here") {
			t.Errorf("a route that only reads GitHub:\n%s", got)
		}
	})
}

// newCheckedApp is newChecked for a bridge that is an App of the account acme.
func newCheckedApp(t *testing.T) (*checked, *githubtest.App) {
	var yaml func(string) string
	c := newChecked(t, bridgetest.Options{Config: func(text string) string { return yaml(text) }})
	app := c.GitHub.AddApp("planbridge", "acme")
	key := filepath.Join(t.TempDir(), "app.pem")
	if err := os.WriteFile(key, app.PrivateKey, 0o600); err != nil {
		t.Fatal(err)
	}
	yaml = replace("token: env:GITHUB_TOKEN", fmt.Sprintf("app: {id: %d, private_key: %q}", app.ID, "file:"+key))
	return c, app
}

func TestCheckApp(t *testing.T) {
	c, app := newCheckedApp(t)
	c.GitHub.AddAppHook(app, "http://127.0.0.1:1/webhooks/github", bridgetest.WebhookSecret, "issues")
	c.idle()
	c.has("ok github: acting as planbridge[bot]", "ok github: the app is installed on acme and may write issues", "repository acme/web: the webhook goes to 127.0.0.1:1/webhooks/github")
}

func TestCheckGlob(t *testing.T) {
	glob := "  - {repository: 'acme/*', name: others, exclude: ['acme/sandbox-*'], project: web, bucket: Incoming}\n"
	c := newChecked(t, bridgetest.Options{Config: func(yaml string) string { return yaml + glob }})
	c.has("fault repository acme/*: route others: it takes none of the repositories of acme that the token can see, 1 in all")
	for name, spec := range map[string]githubtest.RepoSpec{
		"acme/api": {Private: true}, "acme/sandbox-1": {Private: true}, "acme/open": {},
		"acme/old": {Private: true, Archived: true}, "acme/wiki": {Private: true, NoIssues: true},
	} {
		c.GitHub.AddRepo(name, spec)
	}
	c.GitHub.AddHook("acme", "http://127.0.0.1:1/ci", "another secret")
	c.has("warn repository acme/*: the webhooks of acme have none whose URL ends in /webhooks/github, and those of each repository were not looked at: where it has none either, changes")
	c.hook("acme", http.StatusOK)
	c.has("ok repository acme/*: route others: it takes 1 repository: acme/api\n",
		"warn repository acme/*: route others: 1 public repository is left out, as the route does not say allow_public: acme/open\n",
		"ok repository acme/*: the webhook goes to", "ok repository acme/web: the webhook goes to")
}

func TestCheckStoreFile(t *testing.T) {
	c := newChecked(t, bridgetest.Options{})
	if err := c.StartBridge(); err != nil {
		t.Fatal(err)
	}
	c.has("warn store: " + storePath(t, c) + " is in use by another process, and no service answers: nobody answers")
	if err := c.StopBridge(); err != nil {
		t.Fatal(err)
	}
	c.has("ok store: file:" + storePath(t, c) + " can be read and written")
	if err := os.WriteFile(storePath(t, c), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.has("fault store: open store " + storePath(t, c))
	newChecked(t, bridgetest.Options{Store: "file:/nowhere/at/all.db"}).
		has("fault store: /nowhere/at/all.db cannot be made: there is no directory /nowhere/at")
}

func TestCheckRedis(t *testing.T) {
	t.Run("well", func(t *testing.T) {
		s := redistest.Start(t)
		got := newChecked(t, bridgetest.Options{Store: s.URL}).findings()
		if !strings.Contains(got, "ok store: "+s.URL) || !strings.Contains(got, "with appendfsync always nothing") || strings.Contains(got, "warn store") {
			t.Errorf("a Redis that is well:\n%s", got)
		}
	})
	t.Run("no AOF", func(t *testing.T) {
		s := redistest.Start(t, "--appendonly", "no")
		newChecked(t, bridgetest.Options{Store: s.URL}).has("warn store: redis has no append-only file", "set appendonly to yes")
	})
	t.Run("eviction", func(t *testing.T) {
		s := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
		newChecked(t, bridgetest.Options{Store: s.URL}).has("fault store: ", "maxmemory-policy is allkeys-lru, set it to noeviction")
	})
	t.Run("down", func(t *testing.T) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		url := "redis://user:hunter2@" + ln.Addr().String()
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
		got := newChecked(t, bridgetest.Options{Store: url}).findings()
		if !strings.Contains(got, "fault store: redis://xxxxx@127.0.0.1:") || strings.Contains(got, "hunter2") {
			t.Errorf("a Redis that is away:\n%s", got)
		}
	})
}
