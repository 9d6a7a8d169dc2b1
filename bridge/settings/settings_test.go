package settings_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/settings"
	"planbridge/config"
	"planbridge/mapping"
)

// file is a configuration of three routes in two projects.
const file = `
marker_key: env:SECRET
planning:
  base_url: https://planning.example
  projects:
    web: {id: 5f0f1e2d3c4b5a6978879601, secret: "env:SECRET", username: planbridge}
    ops: {id: 5f0f1e2d3c4b5a6978879602, secret: "env:SECRET", username: opsbot}
github:
  token: env:SECRET
  webhook_secrets: ["env:SECRET"]
  former_accounts: [old-bridge]
  writes_per_minute: 60
  writes_per_hour: 600
  edits_per_minute: 30
users: {Alice: alice.planner}
store: {url: redis://:password@localhost:6379/0}
routes:
  - {repository: acme/web, project: web, bucket: Incoming, create_issues: true, allow_public: true}
  - {repository: acme/api, project: ops, bucket: Later}
  - {name: rest, repositories: [acme/*], project: ops, bucket: Rest, exclude: [acme/secret]}
`

func parse(t *testing.T) *config.Config {
	t.Helper()
	c, err := config.Parse([]byte(file), "planbridge.yaml", func(name string) (string, bool) { return "0123456789abcdef0123456789abcdef", name == "SECRET" })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// routed is which routes take issues of a repository.
func routed(s *settings.Settings, repo string) string {
	var names []string
	for _, r := range s.Routes.ForRepo(repo) {
		names = append(names, r.Name)
	}
	return strings.Join(names, " ")
}

// TestRoutesFollowRenames: an exact route goes by the new name alone, its new cards' issues are
// made there, and globs stay as they are.
func TestRoutesFollowRenames(t *testing.T) {
	was := settings.New(parse(t), false, time.Now())
	names, followed := was.Follow("Acme/Web", "acme/site")
	if want := map[string]string{"acme/web": "acme/site"}; !maps.Equal(names, want) || !maps.Equal(followed, map[string]string{"acme/web": "acme/web"}) {
		t.Fatalf("names %v, followed %v", names, followed)
	}
	now := was.WithNames(names)
	for repo, want := range map[string]string{"acme/site": "acme/web", "acme/web": "rest", "acme/api": "acme/api", "acme/secret": ""} {
		if got := routed(now, repo); got != want {
			t.Errorf("%s is of %q, want %q", repo, got, want)
		}
	}
	if to := now.Routes.ByName("acme/web").NewCardsIn; to != "acme/site" {
		t.Errorf("new cards become issues in %s", to)
	}
	if routed(was, "acme/web") != "acme/web" {
		t.Error("the settings from before have changed")
	}
	names, followed = now.Follow("acme/site", "acme/home")
	if !maps.Equal(names, map[string]string{"acme/web": "acme/home"}) || len(followed) != 1 {
		t.Errorf("renamed once more: names %v, followed %v", names, followed)
	}
	if names, followed = now.Follow("acme/site", "acme/web"); len(names) != 0 || len(followed) != 1 {
		t.Errorf("renamed back: names %v, followed %v", names, followed)
	}
	if _, followed = now.Follow("acme/web", "acme/other"); len(followed) != 0 {
		t.Errorf("another repository with the former name was followed: %v", followed)
	}
	if gone := was.WithNames(map[string]string{"acme/gone": "acme/new"}); len(gone.Renamed) != 0 {
		t.Errorf("a name that no route has is kept: %v", gone.Renamed)
	}
}

// TestHasRoute: a route is for what it is called now and for what the configuration calls it.
func TestHasRoute(t *testing.T) {
	s := settings.New(parse(t), false, time.Now())
	s = s.WithNames(map[string]string{"acme/web": "other/site"})
	for name, want := range map[string]bool{"Other/Site": true, "ACME/web": true, "acme/any": true, "acme/secret": false, "other/web": false} {
		if s.HasRoute(name) != want {
			t.Errorf("%s has a route: %v", name, !want)
		}
	}
}

func TestHasRights(t *testing.T) {
	s := settings.New(parse(t), false, time.Now())
	for login, want := range map[string]bool{"alice": true, "ALICE": true, "Old-Bridge": true, "alice.planner": false, "": false} {
		if s.HasRights(login) != want {
			t.Errorf("%q has rights: %v", login, !want)
		}
	}
}

// TestForecast: the slowest budget bounds an import, which may take two thirds of each.
func TestForecast(t *testing.T) {
	c := settings.NewCurrent(settings.New(parse(t), false, time.Now()))
	for _, tt := range []struct {
		issues, edits int
		takes         time.Duration
		bound         string
	}{
		{0, 0, 0, ""},
		{40, 0, 6 * time.Minute, "github.writes_per_hour"}, // 400 an hour
		{40, 200, 10 * time.Minute, "github.edits_per_minute"},
		{400, 200, time.Hour, "github.writes_per_hour"},
	} {
		if takes, bound := c.Forecast(tt.issues, tt.edits); takes != tt.takes || bound != tt.bound {
			t.Errorf("%d issues and %d edits take %s by %q, want %s by %q", tt.issues, tt.edits, takes, bound, tt.takes, tt.bound)
		}
	}
}

// TestPlan: the plan has the effective routes, and no secret of the store.
func TestPlan(t *testing.T) {
	p := settings.New(parse(t), false, time.Now()).Plan()
	if strings.Contains(p.Store.Name, "password") || p.Store.File != "" {
		t.Errorf("the store is %+v", p.Store)
	}
	if !p.QuarantineUnsaid["acme/web"] || p.QuarantineUnsaid["acme/api"] {
		t.Errorf("quarantine is unsaid of %v", p.QuarantineUnsaid)
	}
	if got := p.Projects["ops"]; got.ID != mapping.ObjectID("5f0f1e2d3c4b5a6978879602") || got.Username != "opsbot" {
		t.Errorf("the project ops is %+v", got)
	}
	if names := slices.Sorted(maps.Keys(p.Origins)); len(names) != 3 || !strings.HasPrefix(p.Origins["acme/web"], "planbridge.yaml:") {
		t.Errorf("the routes come from %v", p.Origins)
	}
}

// TestWebURL: pages are at the host of the API, but for github.com.
func TestWebURL(t *testing.T) {
	for api, want := range map[string]string{
		"https://api.github.com":              "https://github.com",
		"https://github.acme.example/api/v3":  "https://github.acme.example",
		"https://github.acme.example/api/v3/": "https://github.acme.example",
		"https://acme.ghe.com":                "https://acme.ghe.com",
		"https://api.acme.ghe.com":            "https://acme.ghe.com",
	} {
		c := parse(t)
		c.GitHub.APIURL = api
		if got := settings.New(c, false, time.Now()).WebURL; got != want {
			t.Errorf("of %s the pages are at %s, want %s", api, got, want)
		}
	}
}

// TestUpdate: changes come one after the other, and one that fails changes nothing.
func TestUpdate(t *testing.T) {
	c := settings.NewCurrent(settings.New(parse(t), false, time.Now()))
	var changing sync.WaitGroup
	for n := range 20 {
		changing.Go(func() {
			err := c.Update(func(now *settings.Settings) (*settings.Settings, error) {
				next := *now
				next.Renamed = maps.Clone(now.Renamed)
				if next.Renamed == nil {
					next.Renamed = map[string]string{}
				}
				next.Renamed[strings.Repeat("x", n+1)] = "y"
				return &next, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	changing.Wait()
	if n := len(c.Load().Renamed); n != 20 {
		t.Errorf("of 20 changes %d hold", n)
	}
	before, refused := c.Load(), errors.New("refused")
	err := c.Update(func(*settings.Settings) (*settings.Settings, error) { return &settings.Settings{}, refused })
	if !errors.Is(err, refused) || c.Load() != before {
		t.Errorf("a change that failed holds, or its error is %v", err)
	}
	if err := c.Update(func(*settings.Settings) (*settings.Settings, error) { return nil, nil }); err != nil || c.Load() != before {
		t.Errorf("nothing was to be changed: %v", err)
	}
}
