package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var updateSchema = flag.Bool("config.update", false, "write deploy/planbridge.schema.json anew")

// schema is a part of a JSON Schema.
type schema map[string]any

// oneOfThese are the values of keys that have few.
var oneOfThese = map[string][]string{
	"Direction": {Both, ToPlanning, ToGitHub}, "Tasks": {SubIssues, Checklist, NoTasks}, "Images": {LinkImages, InlineImages},
	"Authors": {Anyone, Contributors, Members}, "Quarantine": {QuarantineAuto, QuarantineOff},
}

var (
	secretSchema   = schema{"type": "string", "pattern": "^(env|file):.+$"}
	durationSchema = schema{"type": []string{"string", "integer"}, "pattern": `^([0-9.]+(ns|us|µs|ms|s|m|h))+$`, "maximum": 0, "minimum": 0}
)

// schemaOf returns the schema of a Go type's values in the file.
func schemaOf(t reflect.Type) schema {
	switch t {
	case reflect.TypeFor[Secret]():
		return secretSchema
	case reflect.TypeFor[time.Duration]():
		return durationSchema
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return objectSchema(t)
	case reflect.Map:
		return schema{"type": []string{"object", "null"}, "additionalProperties": schemaOf(t.Elem())}
	case reflect.Slice:
		return schema{"type": []string{"array", "null"}, "items": schemaOf(t.Elem())}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return schema{"type": "integer"}
	}
	return schema{"type": "string"}
}

// objectSchema returns that of a struct: its keys, and no others.
func objectSchema(t reflect.Type) schema {
	keys := map[string]any{}
	for _, field := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == "" {
			continue
		}
		of := schemaOf(field.Type)
		if values, few := oneOfThese[field.Name]; few {
			of = schema{"enum": values}
		}
		switch option {
		case "one":
			of = schema{"anyOf": []schema{of, schemaOf(field.Type.Elem())}}
		case "file":
			of = schema{"anyOf": []schema{of, {"type": "string", "pattern": "^file:.+$"}}}
		case "merge":
			of = conflictsSchema()
		}
		keys[name] = of
	}
	return schema{"type": []string{"object", "null"}, "additionalProperties": false, "properties": keys}
}

func conflictsSchema() schema {
	keys := map[string]any{}
	for _, attribute := range append([]string{"default"}, attributes...) {
		keys[attribute] = schema{"enum": []string{PlanningWins, GitHubWins, Newest, Ask, Merge}}
	}
	return schema{"type": []string{"object", "null"}, "additionalProperties": false, "properties": keys}
}

// wholeSchema is the schema of the configuration.
func wholeSchema() schema {
	s := objectSchema(reflect.TypeFor[Config]())
	keys, _ := s["properties"].(map[string]any)
	route := schema{"$ref": "#/$defs/route"}
	keys["routes"], keys["defaults"] = schema{"type": "array", "items": route}, route
	s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", "planbridge's configuration"
	s["description"] = "It also describes the files that include names, which have the keys routes and users alone."
	s["$defs"] = schema{"route": objectSchema(reflect.TypeFor[Route]())}
	return s
}

// TestSchemaDocument: the schema for editors has each key that the program accepts, and no other.
func TestSchemaDocument(t *testing.T) {
	t.Parallel()
	want, err := json.MarshalIndent(wholeSchema(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	path := filepath.Join(root, "deploy/planbridge.schema.json")
	if *updateSchema {
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("deploy/planbridge.schema.json is not that of the code (%v): go test ./config -run TestSchemaDocument -config.update", err)
	}
}

// TestSchemaOfTheChart: the chart holds its value config to the same schema. So a misspelt key and
// a secret in the open are refused before they are in the cluster.
func TestSchemaOfTheChart(t *testing.T) {
	t.Parallel()
	want := wholeSchema()
	defs, _ := want["$defs"].(schema)
	delete(want, "$defs")
	delete(want, "$schema")
	defs["configuration"] = want
	path := filepath.Join(root, "deploy/helm/planbridge/values.schema.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var chart map[string]any
	if err := json.Unmarshal(data, &chart); err != nil {
		t.Fatal(err)
	}
	if *updateSchema {
		chart["$defs"] = defs
		if data, err = json.MarshalIndent(chart, "", "  "); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wanted, err := json.Marshal(defs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(chart["$defs"])
	if err != nil || !bytes.Equal(got, wanted) || !bytes.Contains(data, []byte(`"#/$defs/configuration"`)) {
		t.Errorf("the chart's schema is not that of the code (%v): go test ./config -run TestSchema -config.update", err)
	}
}
