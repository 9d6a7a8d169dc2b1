package services_test

import (
	"testing"

	"planbridge/bridge/reconcile"
	"planbridge/bridge/services"
	"planbridge/mapping"
)

// TestWords: people read names, not ids, of what keys wait for.
func TestWords(t *testing.T) {
	t.Parallel()
	routes := mapping.NewRoutes([]mapping.Route{{Name: "web", Project: "p1", ProjectName: "Web"}})
	for service, want := range map[string]string{
		reconcile.ServiceGitHub: "GitHub", reconcile.ServicePlanning("p1"): "planning project Web", reconcile.ServicePlanning("p2"): "planning project p2",
		reconcile.ServicePaused("web"): "somebody to resume route web", reconcile.ServiceRepository("Acme/Web"): "repository acme/web to be writable",
		reconcile.ServiceAdoption: "the first look at all items", reconcile.ServiceListing("Acme/Web"): "the first look at the issues of acme/web",
	} {
		if got := services.Words(service, routes); got != want {
			t.Errorf("%s is called %q, want %q", service, got, want)
		}
	}
	for service, want := range map[string]string{
		reconcile.ServiceGitHub: "", reconcile.ServicePlanning("p1"): "", reconcile.ServicePaused("web"): "somebody to resume routes", reconcile.ServiceRepository("acme/web"): "repositories to be writable",
		reconcile.ServiceListing("acme/web"): "the first look at the issues of repositories",
	} {
		if got := services.SharedWords(service); got != want {
			t.Errorf("services like %s are called %q, want %q", service, got, want)
		}
	}
}
