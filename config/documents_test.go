package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"planbridge/mapping/pagetest"
)

const root = ".."

// required is what the page on the configuration says of a key without a default.
const required = "required"

// saidOtherwise are the keys whose default the page says in words, and those that another key
// makes needless.
var saidOtherwise = map[string]string{
	"server.admin_token": "none", "server.admin_user_header": "none", "github.app": "none", "planning.card_url": "none", "routes[].name": "the repository", "routes[].new_cards_in": "the repository", "routes[].conflicts": "{default: merge}",
	"github.webhooks[].repositories": required, "github.webhooks[].secrets": required, "github.webhook_secrets": required,
	"planning.projects": required, "marker_key": required, "routes": required,
	"defaults": "{}", "coalesce": "2s",
}

// TestConfigurationPage: the page has each key that the configuration accepts, with its default,
// and no other.
func TestConfigurationPage(t *testing.T) {
	t.Parallel()
	want := map[string]string{"defaults": "{}"}
	describe(want, "", reflect.ValueOf(defaults()))
	got := map[string]string{}
	for _, row := range pagetest.Read(t, root, "docs/configuration.md").Rows {
		if _, doubled := got[row[0]]; doubled {
			t.Errorf("%s stands there twice", row[0])
		}
		got[row[0]] = row[1]
	}
	for key, value := range want {
		shown, is := got[key]
		if !is {
			t.Errorf("docs/configuration.md does not have %s", key)
		} else if value = or(saidOtherwise[key], value); shown != value {
			t.Errorf("docs/configuration.md: %s is %s, not %s", key, value, shown)
		}
	}
	for key := range got {
		if _, is := want[key]; !is {
			t.Errorf("docs/configuration.md has %s, which is no key", key)
		}
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// describe notes the keys below a value with what stands there.
func describe(keys map[string]string, path string, v reflect.Value) {
	for _, field := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == "" {
			continue
		}
		key := strings.TrimPrefix(path+"."+name, ".")
		value := v.FieldByIndex(field.Index)
		switch of := value.Type(); {
		case of == reflect.TypeFor[*App]():
			keys[key] = ""
			describe(keys, key, reflect.ValueOf(App{}))
		case of == reflect.TypeFor[[]Webhook]():
			keys[key] = shown(value)
			describe(keys, key+"[]", reflect.ValueOf(Webhook{}))
		case of == reflect.TypeFor[map[string]Project]():
			keys[key] = ""
			describe(keys, key+".NAME", reflect.ValueOf(Project{}))
		case of == reflect.TypeFor[[]Route]():
			keys[key] = ""
			describe(keys, key+"[]", reflect.ValueOf(routeDefaults()))
		case of.Kind() == reflect.Struct && of != reflect.TypeFor[Secret]():
			describe(keys, key, value)
		default:
			keys[key] = shown(value)
			if optional := strings.HasPrefix(key, "labels.") || key == "ledger_archive"; keys[key] == `""` && !optional {
				keys[key] = required
			}
		}
	}
}

// shown is a value as the page shows it.
func shown(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case Secret:
		return required
	case time.Duration:
		return regexp.MustCompile(`([hm])0[ms](0s)?$`).ReplaceAllString(value.String(), "$1")
	case string:
		return or(value, `""`)
	case int64:
		return required // an id
	}
	switch v.Kind() {
	case reflect.Slice:
		return "[]"
	case reflect.Map:
		return "{}"
	}
	return fmt.Sprint(v.Interface())
}

// TestRestartsInDocuments: the page names the keys that need a restart, and no other.
func TestRestartsInDocuments(t *testing.T) {
	t.Parallel()
	changed := defaults()
	change(reflect.ValueOf(&changed).Elem())
	page := pagetest.Read(t, root, "docs/configuration.md").Source
	_, rest, _ := strings.Cut(page, "## Reload\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	var named []string
	for _, m := range regexp.MustCompile("`([a-z_]+\\.[a-z_.]+)`").FindAllStringSubmatch(section, -1) {
		named = append(named, m[1])
	}
	before := defaults()
	want := Diff(&before, &changed)
	slices.Sort(want)
	slices.Sort(named)
	if !slices.Equal(named, want) {
		t.Errorf("docs/configuration.md names %v, a restart is needed for %v", named, want)
	}
}

// change gives each field of a configuration another value.
func change(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[Secret]():
		v.Set(reflect.ValueOf(NewSecret("another")))
	case v.Type() == reflect.TypeFor[*App]():
		v.Set(reflect.ValueOf(&App{ID: 7}))
	case v.Kind() == reflect.Struct:
		for _, field := range reflect.VisibleFields(v.Type()) {
			if field.Tag.Get("yaml") != "" {
				change(v.FieldByIndex(field.Index))
			}
		}
	case v.Type() == reflect.TypeFor[[]string]():
		v.Set(reflect.ValueOf([]string{"another"}))
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "x")
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	}
}

// TestConfigurationsInDocuments loads each configuration that the documents show. Where a part is
// shown, what is required beside it is added.
func TestConfigurationsInDocuments(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range pagetest.Pages(t, root) {
		for _, b := range p.Blocks {
			if b.Language != "yaml" {
				continue
			}
			found++
			whole, err := completed(b.Text)
			if err != nil {
				t.Errorf("%s:%d: %v", p.Path, b.Line, err)
				continue
			}
			// A file that a secret is in is its reader's.
			noSecret := func(string) bool { return false }
			if _, err := parseWith(whole, fmt.Sprintf("%s:%d", p.Path, b.Line), nil, noSecret); err != nil {
				t.Errorf("%v\n%s", err, whole)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d configurations were found, more are there", found)
	}
}

// completed returns a configuration with what it lacks; a whole one as it is.
func completed(text string) ([]byte, error) {
	var part map[string]any
	if err := yaml.Unmarshal([]byte(text), &part); err != nil {
		return nil, err
	}
	lacks := false
	fill := func(in map[string]any, key string, value any, instead ...string) {
		if _, has := in[key]; !has && !slices.ContainsFunc(instead, func(other string) bool { _, has := in[other]; return has }) {
			in[key], lacks = value, true
		}
	}
	section := func(key string) map[string]any {
		fill(part, key, map[string]any{})
		s, _ := part[key].(map[string]any)
		return s
	}
	hub, planning := section("github"), section("planning")
	if hub == nil || planning == nil {
		return nil, fmt.Errorf("github or planning is no mapping")
	}
	fill(hub, "webhook_secrets", []any{"env:SECRET"})
	fill(hub, "token", "env:TOKEN", "app")
	fill(planning, "base_url", "https://planning.example.com")
	fill(planning, "projects", map[string]any{"web": map[string]any{"id": "1", "secret": "env:SECRET", "username": "bridge"}})
	fill(part, "marker_key", "env:KEY")
	fill(part, "routes", []any{map[string]any{"repository": "acme/web", "project": "web", "bucket": "Incoming"}})
	if !lacks {
		return []byte(text), nil
	}
	return yaml.Marshal(part)
}

// TestFaultsOfConfigurationsAreFound shows that the test refuses what it is there for.
func TestFaultsOfConfigurationsAreFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"servers: {}", "server: {listen: 1}", "github: {token: abc, app: {id: 1}}", "routes: [{repository: x}]", "coalesce: 5h"} {
		whole, err := completed(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseWith(whole, "x", nil, func(string) bool { return false }); err == nil {
			t.Errorf("%s is loaded", text)
		}
	}
}

// TestAlertsHaveRunbooks: each alert has a runbook, which it names, and each runbook an alert.
func TestAlertsHaveRunbooks(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(root, "deploy/prometheus/alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	alerts := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^ *- alert: (\w+)$`).FindAllSubmatch(data, -1) {
		alerts[string(m[1])] = true
		if link := "runbook: docs/operations.md#" + strings.ToLower(string(m[1])) + "\n"; strings.Count(string(data), link) != 1 {
			t.Errorf("no line %q", link)
		}
	}
	runbooks := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^### (Planbridge\w+)$`).FindAllStringSubmatch(pagetest.Read(t, root, "docs/operations.md").Source, -1) {
		runbooks[m[1]] = true
	}
	if len(alerts) == 0 || !maps.Equal(alerts, runbooks) {
		t.Errorf("alerts: %v\nrunbooks: %v", slices.Sorted(maps.Keys(alerts)), slices.Sorted(maps.Keys(runbooks)))
	}
}
