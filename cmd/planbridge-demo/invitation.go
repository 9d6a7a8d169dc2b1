package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"planbridge/bridge/bridgetest"
)

// secretReference is where the world's configuration names a secret of its environment.
var secretReference = regexp.MustCompile(`env:(\w+)`)

// writeConfiguration writes the running bridge's configuration, and each secret beside it,
// so that planbridge's own commands find the bridge.
func writeConfiguration(w *bridgetest.World, dir string) (path string, err error) {
	text := secretReference.ReplaceAllStringFunc(w.YAML(), func(reference string) string {
		name := strings.TrimPrefix(reference, "env:")
		secret, _ := w.Env(name)
		file := filepath.Join(dir, name)
		if e := os.WriteFile(file, []byte(secret), 0o600); e != nil && err == nil {
			err = e
		}
		return "file:" + file
	})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "planbridge.yaml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// invitation lists commands that a reader can try by hand. Each address is quoted, as a shell
// expands a question mark.
func invitation(w *bridgetest.World, file string) string {
	card, issue := "", 0
	for _, c := range w.Project.Cards() {
		if c.Title == ownCard {
			card = c.ID
		}
	}
	for _, i := range w.Repo.Issues() {
		if i.Title == ownCard {
			issue = i.Number
		}
	}
	return fmt.Sprintf(`
Everything stays up until you press Ctrl-C. The status page shows it: %[1]s/

An issue, as somebody with a browser would open it. Its card is there within a second:
  curl -s -H 'Authorization: Bearer %[2]s' -d '{"title":"From curl","body":"Hello, planning"}' '%[3]s/repos/%[4]s/issues'
  curl -s -H 'Authorization: secret %[5]s' '%[6]s/api/projects/%[7]s/backlog/items'

A card's title, as alice would change it in planning. The issue has it within a second:
  curl -s -X PUT -H 'Authorization: secret %[5]s' -H 'Content-Type: application/json' -d '{"username":"alice","title":{"value":"Edited with curl","version":-1}}' '%[6]s/api/projects/%[7]s/items/%[8]s'
  curl -s -H 'Authorization: Bearer %[2]s' '%[3]s/repos/%[4]s/issues/%[9]d'

planbridge's own commands, in the directory of its source:
  export PLANBRIDGE_CONFIG='%[10]s'
  go run ./cmd/planbridge check
  go run ./cmd/planbridge links
  go run ./cmd/planbridge explain '%[4]s#%[9]d'
  go run ./cmd/planbridge conflicts
  go run ./cmd/planbridge --help

What Prometheus would read:
  curl -s '%[1]s/metrics'
`, w.AdminURL(), personToken, w.GitHub.URL(), bridgetest.RepoName, w.Project.Secret(), w.Planning.URL(), w.Project.ID(), card, issue, file)
}
