package archive_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"planbridge/bridge/archive"
	"planbridge/bridge/clock"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// partlySpoilt is a store with a record that cannot be read.
type partlySpoilt struct{ store.Store }

func (s partlySpoilt) Dump(ctx context.Context, visit func(store.Entry) error) error {
	if err := visit(store.Entry{Project: "p", Spoilt: "link p/l0: it is no JSON"}); err != nil {
		return err
	}
	return s.Store.Dump(ctx, visit)
}

// TestExportOfWhatCannotBeRead: the rows of what can be read come, and the export says that
// it is not complete. That of another project is.
func TestExportOfWhatCannotBeRead(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	for _, project := range []mapping.ObjectID{"p", "q"} {
		l := &mapping.Link{ID: "l1", Project: project, Route: "gone", Pair: mapping.Pair{
			State: mapping.Linked, Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 1}, Card: mapping.CardID{ID: "card"},
		}}
		if _, err := s.Observe(t.Context(), project, []store.Observation{{Create: l}}); err != nil {
			t.Fatal(err)
		}
	}
	o := archive.New(archive.Options{Store: partlySpoilt{s}, Settings: &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "a", Project: "p", ProjectName: "one"}})}})
	for _, tt := range []struct {
		project, route string
		rows           int
		says           string // "": it is complete
	}{
		{"", "", 2, "export links: 1 stored entry cannot be read, the first is link p/l0: it is no JSON"},
		{"one", "", 1, "the first is link p/l0"},
		{"p", "gone", 1, "the first is link p/l0"},
		{"q", "", 1, ""},
		{"q", "a", 0, ""},
		{"q", "none", 0, "route none: not found"},
		{"none", "", 0, "project none: not found"},
	} {
		rows := 0
		err := o.Export(t.Context(), status.ExportAsk{What: status.ExportLinks, Project: tt.project, Route: tt.route}, func(row any) error {
			rows++
			if l := row.(status.ExportedLink); l.Project == "q" != (l.State == "dormant") || l.Project == "q" != strings.Contains(l.Why, "does not name its project q") {
				t.Errorf("the link of project %s is %s (%s)", l.Project, l.State, l.Why)
			}
			return nil
		})
		if rows != tt.rows || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("of project %q and route %q: %d rows, %v; expected %d, %q", tt.project, tt.route, rows, err, tt.rows, tt.says)
		}
	}
}

// TestExportOfADryRun: the throw-away store of a dry run is not exported as if it were the
// configured one.
func TestExportOfADryRun(t *testing.T) {
	o := archive.New(archive.Options{Store: memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil), Settings: &reconcile.Settings{DryRun: true}})
	err := o.Export(t.Context(), status.ExportAsk{What: status.ExportLinks}, func(any) error { return nil })
	if !errors.Is(err, status.ErrState) || !strings.Contains(err.Error(), "export: the service that runs is a dry run") {
		t.Errorf("Export: %v", err)
	}
}
