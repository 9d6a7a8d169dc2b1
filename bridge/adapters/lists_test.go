package adapters

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/catchup"
	"planbridge/bridge/github"
	"planbridge/mapping"
	"planbridge/store/boltstore"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// adapterOf returns the adapter of the GitHub at a URL, with a store of its own.
func adapterOf(t *testing.T, url string) *GitHub {
	t.Helper()
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // nothing is read of it any more
	c, err := github.New(github.Options{APIURL: url, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return NewGitHub(c, s, NoHost{}, 0, slog.New(slog.DiscardHandler))
}

// renewed is a GitHub with one repository, acme/web, whose id changes when it is made anew.
type renewed struct{ id int64 }

// ServeHTTP implements http.Handler.
func (g *renewed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/issues"):
		fmt.Fprint(w, `[{"id": 70, "number": 1, "title": "Of whoever has the name", "user": {"login": "mallory"}}]`) //nolint:errcheck // the client may be gone
	case r.URL.Path == "/repos/acme/web", r.URL.Path == fmt.Sprintf("/repositories/%d", g.id):
		fmt.Fprintf(w, `{"id": %d, "full_name": "acme/web", "private": true}`, g.id) //nolint:errcheck // the client may be gone
	default:
		http.Error(w, `{"message": "Not Found"}`, http.StatusNotFound)
	}
}

// TestListedOfAnother: a repository is deleted and made anew right after GitHub said what the name
// stands for. A listing then shows another repository.
func TestListedOfAnother(t *testing.T) {
	hub := &renewed{id: 7}
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	lists := &Lists{adapterOf(t, server.URL)}
	if now, err := lists.Registry.Locate(t.Context(), "acme/web", 0, time.Now()); now != "acme/web" || err != nil {
		t.Fatalf("acme/web is %q, %v", now, err)
	}
	list := func() (titles []string, err error) {
		_, err = lists.ListIssues(t.Context(), "acme/web", catchup.Query{Afresh: true}, func(page []mapping.Issue, _ time.Time) error {
			for _, issue := range page {
				titles = append(titles, issue.Title)
			}
			return nil
		})
		return titles, err
	}
	if got, err := list(); err != nil || len(got) != 1 {
		t.Fatalf("before: %q, %v", got, err)
	}
	hub.id = 8
	if got, err := list(); len(got) != 0 || !errors.As(err, new(*mapping.StrangerError)) {
		t.Errorf("after: %q, %v; want nothing, and that another one has the name", got, err)
	}
}
