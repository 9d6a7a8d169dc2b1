package config_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"planbridge/config"
)

// faultsOf parses yaml, which must be bad.
func faultsOf(t *testing.T, yaml string) config.Faults {
	t.Helper()
	_, err := config.Parse([]byte(yaml), "p.yaml", environ)
	var faults config.Faults
	if !errors.As(err, &faults) {
		t.Fatalf("no faults but %v", err)
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("a secret is in the faults:\n%v", err)
	}
	return faults
}

// faults has one fault a case, as the operator reads it. The edit of minimal is old → new; where
// old is empty, new is appended. The text minimal has 12 lines.
var faults = []struct{ old, new, want string }{
	// The decoder's.
	{"", "sever: {}\n", `p.yaml:13:1: sever: unknown key, expected one of defaults, server, github, planning, users, store, marker_key, labels, brakes, coalesce, ledger_retention, ledger_archive, verify_interval, retry, include, routes; did you mean "server"?`},
	{"", "    projct: web\n", `p.yaml:13:5: routes[0].projct: unknown key, expected one of repository, repositories, exclude, name, project, bucket, bucket_by_label, issues, direction, allow_public, create_issues, new_cards_in, tasks, tasks_per_card, images, tracking_task, force, conflicts; did you mean "project"?`},
	{"", "retry: {attempts: 3}\n", `p.yaml:13:9: retry.attempts: unknown key, expected one of max_attempts, max_interval; did you mean "max_attempts"?`},
	{"", "retry: {foo: 3}\n", `p.yaml:13:9: retry.foo: unknown key, expected one of max_attempts, max_interval`},
	{"", "users: {a: b}\nusers: {c: d}\n", `p.yaml:14:1: users: a second time, expected once: it stands on line 13 already`},
	{"", "users: {a: b, a: c}\n", `p.yaml:13:15: users.a: a second time, expected once: it stands on line 13 already`},
	{"", "users: [a]\n", `p.yaml:13:8: users: a list, expected a mapping`},
	{"", "users: {a: [b]}\n", `p.yaml:13:12: users.a: a list, expected text`},
	{"", "users:\n  ? a\n  : b\n", `p.yaml:14:3: users: a key that is no text, expected text`},
	{"", "users: {<<: {a: b}}\n", `p.yaml:13:9: users.<<: a merge key, expected an alias for a whole value, or the key defaults`},
	{"", "users: *nobody\n", `p.yaml:13:8: users: an alias without its anchor, expected a mapping`},
	{"", "users: !!map {a: b}\n", `p.yaml:13:8: users: a tag, expected a mapping`},
	{"bucket: Incoming", "bucket: 2024", `p.yaml:12:13: routes[0].bucket: 2024, expected text: in quotes, "2024"`},
	{"bucket: Incoming", "bucket:", `p.yaml:12:13: routes[0].bucket: nothing, expected text`},
	{"", "    force: yes\n", `p.yaml:13:12: routes[0].force: "yes", expected true or false`},
	{"", "    issues: {labels: bug}\n", `p.yaml:13:22: routes[0].issues.labels: text, expected a list`},
	{"", "retry: {max_attempts: 1.5}\n", `p.yaml:13:23: retry.max_attempts: 1.5, expected a whole number`},
	{"", "retry: {max_attempts: 99999999999999999999}\n", `p.yaml:13:23: retry.max_attempts: "99999999999999999999", expected a whole number`},
	{"", "retry: {max_interval: 30}\n", `p.yaml:13:23: retry.max_interval: 30, expected a duration with its unit, such as 30s, 5m or 1h30m`},
	{"", "retry: {max_interval: 1 day}\n", `p.yaml:13:23: retry.max_interval: "1 day", expected a duration with its unit, such as 30s, 5m or 1h30m`},
	// Secrets.
	{"env:TOKEN", canary, `p.yaml:3:10: github.token: a value that is not shown, expected env:NAME or file:PATH; a secret is never in this file`},
	{"env:TOKEN", "env:" + canary, `p.yaml:3:10: github.token: a value that is not shown, expected env:NAME or file:PATH; a secret is never in this file`},
	{"env:TOKEN", "{" + canary + ": x}", `p.yaml:3:10: github.token: a value that is not shown, expected env:NAME or file:PATH; a secret is never in this file`},
	{"token: env:TOKEN", "token:", `p.yaml:3:9: github.token: nothing, expected env:NAME or file:PATH`},
	{"env:TOKEN", "env:NONE", `p.yaml:3:10: github.token: env:NONE, expected environment variable NONE to be set`},
	{"env:TOKEN", "env:EMPTY", `p.yaml:3:10: github.token: env:EMPTY, expected environment variable EMPTY not to be empty`},
	{"env:TOKEN", "env:BLANK", `p.yaml:3:10: github.token: a secret with blanks or other characters that no header takes, expected printable ASCII only`},
	{"env:TOKEN", "file:/nowhere/token", `p.yaml:3:10: github.token: file:/nowhere/token, expected a file with the secret: no such file or directory`},
	{"env:MARKER", "env:SHORT", `p.yaml:8:13: marker_key: a secret of 5 bytes, expected 8 bytes or more`},
	{"env:MARKER", "[env:MARKER, env:SHORT]", `p.yaml:8:26: marker_key[1]: a secret of 5 bytes, expected 8 bytes or more`},
	{"env:MARKER", "[]", `p.yaml:8:13: marker_key: nothing, expected env:NAME or file:PATH, or a list of these`},
	{"marker_key: env:MARKER\n", "", `p.yaml:1:1: marker_key: nothing, expected env:NAME or file:PATH, or a list of these`},
	{"[env:HOOK]", "[]", `p.yaml:2:20: github.webhook_secrets: nothing, expected a list of one secret or more, each env:NAME or file:PATH`},
	{"[env:HOOK]", canary, `p.yaml:2:20: github.webhook_secrets: text, expected a list`},
	// Listeners.
	{"", "server: {listen: \"8080\"}\n", `p.yaml:13:18: server.listen: "8080", expected host:port or :port, the port a number up to 65535`},
	{"", "server: {listen: \":70000\"}\n", `p.yaml:13:18: server.listen: ":70000", expected host:port or :port, the port a number up to 65535`},
	{"", "server: {listen: \"a b:80\"}\n", `p.yaml:13:18: server.listen: "a b:80", expected host:port or :port, the port a number up to 65535`},
	{"", "server: {admin_listen: \":9090\"}\n", `p.yaml:13:24: server.admin_listen: ":9090", expected a loopback address, or server.admin_token to guard it`},
	{"", "server: {listen: \"127.0.0.1:9090\"}\n", `p.yaml:13:9: server.admin_listen: "127.0.0.1:9090", expected another address than that of server.listen`},
	// GitHub.
	{"  token: env:TOKEN\n", "", `p.yaml:1:1: github: neither token nor app, expected one of the two`},
	{"  token: env:TOKEN\n", "  app: {id: 5}\n", `p.yaml:3:8: github.app.private_key: nothing, expected env:NAME or file:PATH`},
	{"  token: env:TOKEN\n", "  app: {id: 0, private_key: env:KEY}\n", `p.yaml:3:13: github.app.id: 0, expected the app's id, a number above 0`},
	{"  token: env:TOKEN\n", "  app: {private_key: env:KEY}\n", `p.yaml:3:8: github.app.id: nothing, expected the app's id`},
	{"  token: env:TOKEN\n", "  app: {id: 5, private_key: env:TOKEN}\n", `p.yaml:3:29: github.app.private_key: a secret that is something else, expected an RSA private key in PEM, as GitHub hands it out`},
	{"  token: env:TOKEN\n", "  token: env:TOKEN\n  app: {id: 5, private_key: env:KEY}\n", `p.yaml:4:8: github.app: both token and app, expected one of the two`},
	{"github:\n", "github:\n  api_url: http://ghe.example.com/api/v3\n", `p.yaml:2:12: github.api_url: "http://ghe.example.com/api/v3", expected an https URL (http only for a loopback address) without user, query or fragment`},
	{"github:\n", "github:\n  writes_per_minute: 0\n", `p.yaml:2:22: github.writes_per_minute: 0, expected a number from 1 to 10000`},
	{"github:\n", "github:\n  catch_up_interval: 1ms\n", `p.yaml:2:22: github.catch_up_interval: 1ms, expected a duration from 100ms to 24h0m0s`},
	{"github:\n", "github:\n  enter_delay: -1s\n", `p.yaml:2:16: github.enter_delay: -1s, expected a duration from 0s to 10m0s`},
	{"github:\n", "github:\n  former_accounts: [ok, not ok]\n", `p.yaml:2:25: github.former_accounts[1]: "not ok", expected a GitHub login`},
	// Planning.
	{"  base_url: https://planning.example.com\n", "", `p.yaml:4:1: planning.base_url: nothing, expected an https URL (http only for a loopback address) without user, query or fragment`},
	{"https://planning.example.com", "https://u:" + canary + "@h", `p.yaml:5:13: planning.base_url: "https://xxxxx@h", expected an https URL (http only for a loopback address) without user, query or fragment`},
	{"https://planning.example.com", "https://h/?k=" + canary, `p.yaml:5:13: planning.base_url: "https://h/?xxxxx", expected an https URL (http only for a loopback address) without user, query or fragment`},
	{"https://planning.example.com", "https://h:65536", `p.yaml:5:13: planning.base_url: "https://h:65536", expected an https URL (http only for a loopback address) without user, query or fragment`},
	{"  base_url:", "  card_url: https://h/{card}/{place}\n  base_url:", `p.yaml:5:13: planning.card_url: "https://h/{card}/{place}", expected an https or http URL with {card} or {cid} in it, and {project} if need be`},
	{"  base_url:", "  card_url: https://h/cards\n  base_url:", `p.yaml:5:13: planning.card_url: "https://h/cards", expected an https or http URL with {card} or {cid} in it, and {project} if need be`},
	{"  base_url:", "  card_url: javascript:x{card}\n  base_url:", `p.yaml:5:13: planning.card_url: "javascript:x{card}", expected an https or http URL with {card} or {cid} in it, and {project} if need be`},
	{"https://planning.example.com", "planning.example.com", `p.yaml:5:13: planning.base_url: "planning.example.com", expected an https URL (http only for a loopback address) without user, query or fragment`},
	{"54744060c955ca8169c61ee6", "5474/4060", `p.yaml:7:15: planning.projects.web.id: "5474/4060", expected the project's id, up to 64 letters, digits, _ -`},
	{", secret: env:WEB", "", `p.yaml:7:10: planning.projects.web.secret: nothing, expected env:NAME or file:PATH`},
	{", username: bridge", "", `p.yaml:7:10: planning.projects.web.username: nothing, expected text on one line, without blanks around it`},
	{"marker_key", "    two: {id: 54744060C955CA8169C61EE6, secret: env:WEB, username: b}\nmarker_key", `p.yaml:8:15: planning.projects.two.id: "54744060C955CA8169C61EE6", expected an id of its own: it is that of web already`},
	{"marker_key", "    a b: {id: 54744060c955ca8169c61ee7, secret: env:WEB, username: b}\nmarker_key", `p.yaml:8:10: planning.projects["a b"]: the name "a b", expected a name of letters, digits, _ . -`},
	// Users, store, labels, numbers.
	{"", "users: {octo/cat: alice}\n", `p.yaml:13:19: users["octo/cat"]: the key "octo/cat", expected a GitHub login`},
	{"", "users: {octocat: alice, OctoCat: bob}\n", `p.yaml:13:34: users.OctoCat: the key "OctoCat", expected it once: "octocat" is the same on GitHub`},
	{"", "users: {octocat: \" \"}\n", `p.yaml:13:18: users.octocat: " ", expected text on one line, without blanks around it`},
	{"", "store: {url: \"file:\"}\n", `p.yaml:13:14: store.url: "file:", expected file:PATH, redis://HOST:PORT/DB or rediss://HOST:PORT/DB, or env:NAME`},
	{"", "store: {url: \"mysql://u:" + canary + "@h\"}\n", `p.yaml:13:14: store.url: "mysql://xxxxx@h", expected file:PATH, redis://HOST:PORT/DB or rediss://HOST:PORT/DB, or env:NAME`},
	{"", "store: {url: \"redis://h:99999\"}\n", `p.yaml:13:14: store.url: "redis://h:99999", expected file:PATH, redis://HOST:PORT/DB or rediss://HOST:PORT/DB, or env:NAME`},
	{"", "store: {url: \"redis://h/0?foo=bar\"}\n", `p.yaml:13:14: store.url: "redis://h/0?xxxxx", expected no parameter foo`},
	{"", "store: {url: \"redis://h/0?pool_size=" + canary + "\"}\n", `p.yaml:13:14: store.url: "redis://h/0?xxxxx", expected another value of the parameter pool_size`},
	{"", "store: {url: \"rediss://u:" + canary + "@h/x\"}\n", `p.yaml:13:14: store.url: "rediss://xxxxx@h/x", expected redis://[user:password@]host:port[/db] or rediss://…, for Sentinel with ?master=NAME, for Cluster with ?cluster=1, each with addr=HOST:PORT for further nodes`},
	{"", "store: {url: \"env:NOTHING\"}\n", `p.yaml:13:14: store.url: env:NOTHING, expected environment variable NOTHING to be set`},
	{"", "store: {url: \"redis:" + canary + "\"}\n", `p.yaml:13:14: store.url: "(not shown)", expected file:PATH, redis://HOST:PORT/DB or rediss://HOST:PORT/DB, or env:NAME`},
	{"", "store: {prefix: \"{x}\"}\n", `p.yaml:13:17: store.prefix: "{x}", expected up to 64 letters, digits, _ . : -`},
	{"", "labels: {prefix: \"\"}\n", `p.yaml:13:18: labels.prefix: "", expected the beginning of a label: up to 25 characters, no comma`},
	{"", "labels: {estimate: points}\n", `p.yaml:13:20: labels.estimate: "points", expected a label with {value} in it once: up to 50 characters, no comma`},
	{"", "labels: {estimate: \"{value}/{value}\"}\n", `p.yaml:13:20: labels.estimate: "{value}/{value}", expected a label with {value} in it once: up to 50 characters, no comma`},
	{"", "labels: {hours: \"h,{value}\"}\n", `p.yaml:13:17: labels.hours: "h,{value}", expected a label with {value} in it once: up to 50 characters, no comma`},
	{"", "labels: {hours: \"Points/{value}\"}\n", `p.yaml:13:17: labels.hours: "Points/{value}", expected another pattern than labels.estimate`},
	{"", "labels: {card: card}\n", `p.yaml:13:16: labels.card: "card", expected a label with {value} in it once: up to 50 characters, no comma`},
	{"", "labels: {card: \"Points/{value}\"}\n", `p.yaml:13:16: labels.card: "Points/{value}", expected another pattern than labels.estimate and labels.hours`},
	{"", "labels: {card: \"plan:{value}\"}\n", `p.yaml:13:16: labels.card: "plan:{value}", expected a label that does not begin with "plan:", which is the bridge's own`},
	{"", "labels: {in_progress: \"plan:doing\"}\n", `p.yaml:13:23: labels.in_progress: "plan:doing", expected a label that does not begin with "plan:", which is the bridge's own`},
	{"", "labels: {in_progress: \"" + strings.Repeat("x", 51) + "\"}\n", `p.yaml:13:23: labels.in_progress: "` + strings.Repeat("x", 51) + `", expected a label: up to 50 characters, no comma`},
	{"", "brakes: {closes_per_minute: 0}\n", `p.yaml:13:29: brakes.closes_per_minute: 0, expected a number from 1 to 100000`},
	{"", "coalesce: 31s\n", `p.yaml:13:11: coalesce: 31s, expected a duration from 0s to 30s`},
	{"", "coalesce: -1s\n", `p.yaml:13:11: coalesce: -1s, expected a duration from 0s to 30s`},
	{"", "coalesce: 2\n", `p.yaml:13:11: coalesce: 2, expected a duration with its unit, such as 30s, 5m or 1h30m`},
	{"", "ledger_retention: 23h\n", `p.yaml:13:19: ledger_retention: 23h0m0s, expected a duration from 24h0m0s to 876000h0m0s, or 0 to keep all`},
	{"", "ledger_retention: -1h\n", `p.yaml:13:19: ledger_retention: -1h0m0s, expected a duration from 24h0m0s to 876000h0m0s, or 0 to keep all`},
	{"", "ledger_retention: 1000000h\n", `p.yaml:13:19: ledger_retention: 1000000h0m0s, expected a duration from 24h0m0s to 876000h0m0s, or 0 to keep all`},
	{"", "ledger_archive: /var/lib/planbridge/\n", `p.yaml:13:17: ledger_archive: "/var/lib/planbridge/", expected the path of a file`},
	{"", "retry: {max_interval: 48h}\n", `p.yaml:13:23: retry.max_interval: 48h0m0s, expected a duration from 1s to 24h0m0s`},
	// Routes.
	{"acme/web", "acme", `p.yaml:10:17: routes[0].repository: "acme", expected owner/name, or a glob in the name such as owner/*`},
	{"acme/web", `"*/web"`, `p.yaml:10:17: routes[0].repository: "*/web", expected owner/name, or a glob in the name such as owner/*`},
	{"acme/web", `"acme/[a"`, `p.yaml:10:17: routes[0].repository: "acme/[a", expected owner/name, or a glob in the name such as owner/*`},
	{"repository: acme/web", "name: web", `p.yaml:10:5: routes[0].repository: nothing, expected owner/name, or a glob in the name such as owner/*`},
	{"    bucket: Incoming\n", "", `p.yaml:10:5: routes[0].bucket: nothing, expected text on one line, without blanks around it`},
	{"    project: web\n", "", `p.yaml:10:5: routes[0].project: nothing, expected a project of planning.projects (web)`},
	{"project: web", "project: wbe", `p.yaml:11:14: routes[0].project: "wbe", expected a project of planning.projects (web); did you mean "web"?`},
	{"", "    exclude: [acme/old]\n", `p.yaml:13:14: routes[0].exclude: an exclusion, expected none, as the repository is no glob`},
	{"acme/web", "acme/*\n    exclude: [old]", `p.yaml:11:15: routes[0].exclude[0]: "old", expected owner/name, or a glob in the name such as owner/*`},
	{"acme/web", "acme/*\n    create_issues: true", `p.yaml:11:20: routes[0].create_issues: true, expected false, as a glob does not say in which repository an issue would be made`},
	{"", "    name: my web\n", `p.yaml:13:11: routes[0].name: "my web", expected a name without blanks and quotes, up to 140 characters`},
	{"", "    direction: to_plannin\n", `p.yaml:13:16: routes[0].direction: "to_plannin", expected one of both, to_planning, to_github; did you mean "to_planning"?`},
	{"", "    tasks: subissues\n", `p.yaml:13:12: routes[0].tasks: "subissues", expected one of sub_issues, checklist, none; did you mean "sub_issues"?`},
	{"", "    tasks_per_card: 0\n", `p.yaml:13:21: routes[0].tasks_per_card: 0, expected a number from 1 to 10000`},
	{"", "    issues: {quarantine: on}\n", `p.yaml:13:26: routes[0].issues.quarantine: "on", expected one of auto, off`},
	{"", "    issues: {authors: all}\n", `p.yaml:13:23: routes[0].issues.authors: "all", expected one of any, contributors, members`},
	{"", "    issues: {labels: [\"a,b\"]}\n", `p.yaml:13:23: routes[0].issues.labels[0]: "a,b", expected a label: up to 50 characters, no comma`},
	{"", "    conflicts: {titel: ask}\n", `p.yaml:13:24: routes[0].conflicts.titel: unknown attribute, expected one of default, title, summary, estimate, state; did you mean "title"?`},
	{"", "    conflicts: {default: GitHub}\n", `p.yaml:13:26: routes[0].conflicts.default: "GitHub", expected one of planning, github, newest, ask, merge; did you mean "github"?`},
	{"", "    bucket_by_label: {\"a,b\": X}\n", `p.yaml:13:30: routes[0].bucket_by_label["a,b"]: the key "a,b", expected a label: up to 50 characters, no comma`},
	{"", "    bucket_by_label: {bug: X, Bug: Y}\n", `p.yaml:13:36: routes[0].bucket_by_label.Bug: the key "Bug", expected it once: "bug" is the same on GitHub`},
	{"", "    bucket_by_label: {bug: \"\"}\n", `p.yaml:13:28: routes[0].bucket_by_label.bug: "", expected text on one line, without blanks around it`},
	{"", "  - {repository: Acme/Web, project: web, bucket: Other}\n", `p.yaml:13:5: routes[1].name: nothing, expected a name, as routes[0] on line 10 is called "Acme/Web" too`},
	{"", "    name: w\n  - {repository: acme/api, name: w, project: web, bucket: Other}\n", `p.yaml:14:34: routes[1].name: "w", expected a name of its own: it is that of routes[0] on line 10`},
	{"", "  - {repository: acme/api, project: web, bucket: Incoming}\n", `p.yaml:13:5: routes[1].create_issues: true for the bucket "Incoming", expected false here or in routes[0] on line 10: only one route may create issues for a bucket`},
	{"", "  - {repository: acme/api, project: web, bucket: Other, bucket_by_label: {x: Incoming}}\n", `p.yaml:13:5: routes[1].create_issues: true for the bucket "Incoming", expected false here or in routes[0] on line 10: only one route may create issues for a bucket`},
	{"", "defaults: {tasks: all}\n", `p.yaml:13:19: defaults.tasks: "all", expected one of sub_issues, checklist, none`},
	{"", "defaults: {task: none}\n", `p.yaml:13:12: defaults.task: unknown key, expected one of repository, repositories, exclude, name, project, bucket, bucket_by_label, issues, direction, allow_public, create_issues, new_cards_in, tasks, tasks_per_card, images, tracking_task, force, conflicts; did you mean "tasks"?`},
	// The file as a whole.
	{minimal, "", `p.yaml:1:1: an empty file, expected a configuration; deploy/planbridge.example.yaml shows one`},
	{minimal, "# all in comments\n", `p.yaml:1:1: an empty file, expected a configuration; deploy/planbridge.example.yaml shows one`},
	{"", "---\nusers: {}\n", `p.yaml:14:1: a second document, expected one document in the file`},
	{"", "users: [\n", `p.yaml:13:8: not YAML: sequence end token ']' not found, expected YAML`},
	{"", "#" + strings.Repeat("x", 300<<10), `p.yaml:1:1: more than the file may have, expected at most 262144 bytes`},
}

func TestFaults(t *testing.T) {
	for _, tt := range faults {
		yaml := minimal + tt.new
		if tt.old != "" {
			yaml = strings.Replace(minimal, tt.old, tt.new, 1)
		}
		got := faultsOf(t, yaml)
		if len(got) != 1 || got.Error() != tt.want {
			t.Errorf("%q → %.80q\ngot  %v\nwant %s", tt.old, tt.new, got, tt.want)
		}
	}
}

// TestAllFaultsAtOnce: unknown keys, wrong types and wrong meanings come in one report,
// in the file's order.
func TestAllFaultsAtOnce(t *testing.T) {
	faults := faultsOf(t, `server: {lisen: ":8080", listen: 8080}
github:
  webhook_secrets: [`+canary+`, env:NONE]
  settle: 2 minutes
planning:
  base_url: ftp://h
  projects: {web: {id: 1, secret: env:WEB}}
routes:
  - repository: acme/web
    project: api
    bucket: Incoming
    tasks: all
colour: red
`)
	var got []string
	for _, f := range faults {
		got = append(got, fmt.Sprintf("%d %s", f.Line, f.Path))
	}
	want := []string{
		"1 marker_key", "1 server.lisen", "1 server.listen",
		"2 github", "3 github.webhook_secrets[0]", "3 github.webhook_secrets[1]", "4 github.settle",
		"6 planning.base_url", "7 planning.projects.web.username", "7 planning.projects.web.id",
		"10 routes[0].project", "12 routes[0].tasks", "13 colour",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s\nall:\n%v", strings.Join(got, "\n"), strings.Join(want, "\n"), faults)
	}
}

// TestRoutesShareABucket: a route that is no second creator is no fault.
func TestRoutesShareABucket(t *testing.T) {
	for _, more := range []string{"create_issues: false", "direction: to_planning", "bucket: Bugs"} {
		parse(t, minimal+"  - repository: acme/api\n    project: web\n    "+more+"\n"+
			map[bool]string{true: "", false: "    bucket: Incoming\n"}[strings.HasPrefix(more, "bucket")])
	}
	parse(t, minimal+"  - {repository: \"acme/*\", project: web, bucket: Incoming}\n")
}

// TestValidateMadeInGo: a Config that no file gave has paths and no lines.
func TestValidateMadeInGo(t *testing.T) {
	c := parse(t, minimal)
	made := config.Config{
		Server: c.Server, GitHub: c.GitHub, Planning: c.Planning, Store: c.Store, MarkerKeys: c.MarkerKeys,
		Labels: c.Labels, Brakes: c.Brakes, Coalesce: c.Coalesce, Retry: c.Retry, Routes: c.Routes,
	}
	if err := made.Validate(); err != nil {
		t.Error(err)
	}
	made.Routes = append(slices.Clone(c.Routes), config.Route{Repository: "acme/web", Name: "acme/web", Project: "api"})
	err := made.Validate()
	for _, want := range []string{
		`routes[1].bucket: nothing, expected`, `routes[1].project: "api", expected`, `routes[1].name: "acme/web", expected`,
		`routes[1].direction: "", expected`, `routes[1].tasks: "", expected`,
	} {
		if err == nil || !strings.Contains("\n"+err.Error(), "\n"+want) {
			t.Errorf("%s is not in\n%v", want, err)
		}
	}
}
