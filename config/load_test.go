package config_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"planbridge/config"
)

// minimal says only what has no default.
const minimal = `github:
  webhook_secrets: [env:HOOK]
  token: env:TOKEN
planning:
  base_url: https://planning.example.com
  projects:
    web: {id: 54744060c955ca8169c61ee6, secret: env:WEB, username: bridge}
marker_key: env:MARKER
routes:
  - repository: acme/web
    project: web
    bucket: Incoming
`

// canary stands in every secret of the tests, so that a leak can be searched for.
const canary = "hunter2-hunter2-hunter2"

// environ has the secrets that minimal names.
func environ(name string) (string, bool) {
	values := map[string]string{
		"HOOK": canary + "-hook", "TOKEN": canary + "-token", "WEB": canary + "-web",
		"KEY": rsaKey(), "MARKER": canary + "-marker", "ADMIN": canary + "-admin", "EMPTY": "", "SHORT": "short", "BLANK": canary + " ",
		"STORE": "redis://u:" + canary + "@h:6379/1",
	}
	value, ok := values[name]
	return value, ok
}

// rsaKey is one key for all tests, since making one takes long.
var rsaKey = sync.OnceValue(func() string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
})

func parse(t *testing.T, yaml string) *config.Config {
	t.Helper()
	c, err := config.Parse([]byte(yaml), "planbridge.yaml", environ)
	if err != nil {
		t.Fatalf("Parse:\n%v", err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	want := &config.Config{
		Server: config.Server{Listen: ":8080", AdminListen: "127.0.0.1:9090"},
		GitHub: config.GitHub{
			APIURL:          "https://api.github.com",
			WebhookSecrets:  []config.Secret{config.NewSecret(canary + "-hook")},
			Token:           config.NewSecret(canary + "-token"),
			CatchUpInterval: 5 * time.Minute,
			Settle:          2 * time.Minute,
			EnterDelay:      2 * time.Second,
			WritesPerMinute: 70,
			WritesPerHour:   450,
			EditsPerMinute:  60,
			PointsPerMinute: 850,
		},
		Planning: config.Planning{
			BaseURL:           "https://planning.example.com",
			PollInterval:      30 * time.Second,
			PollMin:           2 * time.Second,
			TaskSweepInterval: 10 * time.Minute,
			Settle:            30 * time.Second,
			Projects: map[string]config.Project{
				"web": {ID: "54744060c955ca8169c61ee6", Secret: config.NewSecret(canary + "-web"), Username: "bridge"},
			},
		},
		Store:           config.Store{URL: "file:planbridge.db", Prefix: "planbridge"},
		MarkerKeys:      []config.Secret{config.NewSecret(canary + "-marker")},
		Labels:          config.Labels{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"},
		Brakes:          config.Brakes{CreatesPerMinute: 300, ClosesPerMinute: 120},
		Coalesce:        2 * time.Second,
		LedgerRetention: 8760 * time.Hour,
		VerifyInterval:  24 * time.Hour,
		Retry:           config.Retry{MaxAttempts: 12, MaxInterval: 5 * time.Minute},
		Routes: []config.Route{{
			Repository: "acme/web", Name: "acme/web", Project: "web", Bucket: "Incoming",
			Issues: config.Issues{Authors: "any", Quarantine: "auto"}, Direction: "both", CreateIssues: true, Tasks: "sub_issues", TasksPerCard: 200, Images: "link", TrackingTask: true,
			Conflicts:  map[string]string{"default": "merge", "title": "merge", "summary": "merge", "estimate": "merge", "state": "merge"},
			NewCardsIn: "acme/web", File: "planbridge.yaml", Line: 10,
		}},
	}
	if diff := cmp.Diff(want, parse(t, minimal), cmpopts.IgnoreUnexported(config.Config{})); diff != "" {
		t.Error(diff)
	}
}

func TestExampleSaysEveryKey(t *testing.T) {
	t.Chdir("../deploy") // the example's files are relative to it
	c, err := config.Load("planbridge.example.yaml", func(string) (string, bool) { return canary, true })
	if err != nil {
		t.Fatalf("the example does not load:\n%v", err)
	}
	for _, key := range []string{
		"server.listen", "server.admin_listen",
		"github.api_url", "github.webhook_secrets", "github.token", "github.catch_up_interval", "github.settle",
		"github.writes_per_minute", "github.writes_per_hour", "github.edits_per_minute", "github.points_per_minute", "github.enter_delay", "github.former_accounts",
		"planning.base_url", "planning.poll_interval", "planning.task_sweep_interval", "planning.settle",
		"planning.projects.web.id", "planning.projects.web.secret", "planning.projects.web.username",
		"users", "store.url", "store.prefix", "marker_key",
		"include", "labels.prefix", "labels.in_progress", "labels.estimate", "labels.hours", "labels.card",
		"brakes.creates_per_minute", "brakes.closes_per_minute", "coalesce", "ledger_retention", "ledger_archive", "verify_interval", "retry.max_attempts", "retry.max_interval",
		"defaults.tasks", "routes[].repository", "routes[].repositories", "routes[].new_cards_in", "routes[].exclude", "routes[].name", "routes[].project", "routes[].bucket",
		"routes[].bucket_by_label", "routes[].issues.labels", "routes[].issues.exclude_labels", "routes[].issues.authors",
		"routes[].issues.quarantine",
		"routes[].direction", "routes[].allow_public", "routes[].create_issues", "routes[].tasks", "routes[].tasks_per_card", "routes[].images", "routes[].tracking_task",
		"routes[].force", "routes[].conflicts",
	} {
		if !c.Uses(key) {
			t.Errorf("the example does not show %s", key)
		}
	}
	// Keys that exclude others are comments, as lines that can be taken in.
	text, err := os.ReadFile("planbridge.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"# admin_token: env:", "# admin_user_header: X-Forwarded-User", "# trusted_proxies: [", "# app: {id: ", "private_key: file:"} {
		if !strings.Contains(string(text), key) {
			t.Errorf("the example does not mention %q", key)
		}
	}
}

// TestRoutesInherit: a route says, the file's defaults say, the program says, in this order,
// and an explicit false is not an absent one.
func TestRoutesInherit(t *testing.T) {
	c := parse(t, minimal+`    issues: {labels: [sync]}
    conflicts: {title: ask}
  - repository: acme/api
    project: web
    bucket: Other
    tracking_task: true
    bucket_by_label: {zeta: Z, alpha: A}
    tasks: none
defaults:
  tracking_task: false
  tasks: checklist
  issues: {exclude_labels: [wontplan], authors: members}
  conflicts: {default: github, state: newest}
  bucket_by_label: {bug: Bugs}
  create_issues: false
`)
	web, api := c.Routes[0], c.Routes[1]
	if web.TrackingTask || !api.TrackingTask {
		t.Errorf("tracking_task: %v, %v", web.TrackingTask, api.TrackingTask)
	}
	if web.Tasks != config.Checklist || api.Tasks != config.NoTasks {
		t.Errorf("tasks: %s, %s", web.Tasks, api.Tasks)
	}
	if web.CreateIssues || api.CreateIssues {
		t.Error("create_issues is not inherited")
	}
	if diff := cmp.Diff(config.Issues{Labels: []string{"sync"}, ExcludeLabels: []string{"wontplan"}, Authors: "members", Quarantine: "auto"}, web.Issues); diff != "" {
		t.Error("sections merge key by key", diff)
	}
	if diff := cmp.Diff(map[string]string{"default": "github", "title": "ask", "summary": "github", "estimate": "github", "state": "newest"}, web.Conflicts); diff != "" {
		t.Error(diff)
	}
	if api.Conflicts["title"] != "github" {
		t.Error("one route's conflicts leaked into another's")
	}
	if diff := cmp.Diff([]string{"zeta", "alpha"}, api.BucketLabels); diff != "" {
		t.Error("the file's order is lost", diff)
	}
	if diff := cmp.Diff(map[string]string{"zeta": "Z", "alpha": "A"}, api.BucketByLabel); diff != "" {
		t.Error("a free mapping replaces the default", diff)
	}
	if diff := cmp.Diff([]string{"bug"}, web.BucketLabels); diff != "" {
		t.Error(diff)
	}
}

// TestAccepted holds variants that are right though they look unusual.
func TestAccepted(t *testing.T) {
	edit := func(from, to string) string { return strings.Replace(minimal, from, to, 1) }
	for name, yaml := range map[string]string{
		"byte order mark":        "\ufeff" + minimal,
		"CRLF":                   strings.ReplaceAll(minimal, "\n", "\r\n"),
		"document marks":         "---\n" + minimal + "...\n",
		"empty sections":         minimal + "users:\nserver:\nlabels: {}\n",
		"anchor and alias":       edit("bucket: Incoming\n", "bucket: &b Incoming\n    bucket_by_label: {bug: *b}\n"),
		"path prefix":            edit("planning.example.com", "example.com/tools/planning/"),
		"http on loopback":       edit("https://planning.example.com", "http://127.0.0.1:8081"),
		"http on IPv6 loopback":  edit("https://planning.example.com", "http://[::1]:8081"),
		"keys in rotation":       edit("env:MARKER", "[env:MARKER, env:TOKEN]"),
		"one secret as a list":   edit("env:MARKER", "[env:MARKER]"),
		"admin with a token":     minimal + "server: {admin_listen: \":9090\", admin_token: env:ADMIN}\n",
		"system's choice":        minimal + "server: {listen: \"127.0.0.1:0\", admin_listen: \"127.0.0.1:0\"}\n",
		"redis with a password":  minimal + "store: {url: \"rediss://planbridge:pw@redis:6380/1\"}\n",
		"sentinel":               minimal + "store: {url: \"redis://:pw@sentinel:26379/0?master=m&addr=other:26379\"}\n",
		"absolute file":          minimal + "store: {url: \"file:/var/lib/planbridge.db\"}\n",
		"a bot's login":          minimal + "users: {\"renovate[bot]\": bridge, octo-cat: alice}\n",
		"a blank in a prefix":    minimal + "labels: {prefix: \"plan: \"}\n",
		"a bucket with a number": edit("bucket: Incoming", `bucket: "2024"`),
	} {
		if _, err := config.Parse([]byte(yaml), name, environ); err != nil {
			t.Errorf("%s:\n%v", name, err)
		}
	}
}

func TestZeroDuration(t *testing.T) {
	c := parse(t, strings.Replace(minimal, "github:\n", "github:\n  enter_delay: 0\n", 1))
	if c.GitHub.EnterDelay != 0 {
		t.Error(c.GitHub.EnterDelay)
	}
}

func TestPathPrefixLosesItsSlash(t *testing.T) {
	c := parse(t, strings.Replace(minimal, "planning.example.com", "example.com/tools/planning/", 1))
	if c.Planning.BaseURL != "https://example.com/tools/planning" {
		t.Error(c.Planning.BaseURL)
	}
}

func TestLoadMissingFile(t *testing.T) {
	_, err := config.Load(filepath.Join(t.TempDir(), "none.yaml"), environ)
	if !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestGlobMakesNoIssuesByDefault(t *testing.T) {
	c := parse(t, strings.Replace(minimal, "acme/web", "'acme/*'\n    exclude: [acme/old-*]", 1)+"defaults: {create_issues: true}\n")
	if c.Routes[0].CreateIssues {
		t.Error("a glob makes issues")
	}
}

func TestUses(t *testing.T) {
	c := parse(t, minimal+"brakes: {creates_per_minute: 300}\ndefaults: {force: false}\n")
	for path, want := range map[string]bool{
		"brakes": true, "brakes.creates_per_minute": true, "brakes.closes_per_minute": false,
		"routes[].bucket": true, "routes[].force": true, "routes[].tasks": false, "users": false,
	} {
		if c.Uses(path) != want {
			t.Errorf("Uses(%q) = %v", path, !want)
		}
	}
	if new(config.Config).Uses("users") {
		t.Error("a Config made in Go has no file")
	}
}

func TestStoreFile(t *testing.T) {
	for url, want := range map[string]string{"file:a/b.db": "a/b.db", "file:/a.db": "/a.db", "file:///a.db": "/a.db", "redis://h": ""} {
		if got, ok := (config.Store{URL: url}).File(); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", url, got, ok)
		}
	}
}

// TestLoadClient: a command that only calls the running service needs none of its secrets but the
// admin token; every other fault counts as ever.
func TestLoadClient(t *testing.T) {
	path := filepath.Join(t.TempDir(), "planbridge.yaml")
	write := func(yaml string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := func(name string) (string, bool) { return "operator", name == "ADMIN" }
	write("server: {admin_token: env:ADMIN}\n" + minimal)
	c, err := config.LoadClient(path, env)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Server.AdminToken.Reveal(); got != "operator" {
		t.Errorf("the admin token is %q", got)
	}
	if !c.GitHub.Token.IsZero() {
		t.Error("a secret that nobody asked for was resolved")
	}
	if _, err := config.Load(path, env); err == nil {
		t.Error("the service itself loads without its secrets")
	}
	write("server: {admin_token: env:NONE, listen: nonsense}\n" + minimal)
	var faults config.Faults
	if _, err := config.LoadClient(path, env); !errors.As(err, &faults) || len(faults) != 2 {
		t.Errorf("faults: %v", err)
	}
}

// TestEditsFollowWrites: a file that bounded all writes by one number still has that bound.
func TestEditsFollowWrites(t *testing.T) {
	for more, want := range map[string]int{
		"":                          60,
		"  writes_per_minute: 10\n": 10,
		"  writes_per_minute: 10\n  edits_per_minute: 25\n": 25,
		"  edits_per_minute: 25\n":                          25,
		"  writes_per_hour: 100\n":                          60,
	} {
		c := parse(t, strings.Replace(minimal, "github:\n", "github:\n"+more, 1))
		if c.GitHub.EditsPerMinute != want {
			t.Errorf("with %q edits_per_minute is %d, want %d", more, c.GitHub.EditsPerMinute, want)
		}
	}
}
