// Package services describes to people the services that keys wait for.
package services

import (
	"cmp"
	"strings"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// Words describes in words the service that keys wait for.
func Words(service string, routes mapping.Routes) string {
	if project, is := strings.CutPrefix(service, reconcile.ServicePlanning("")); is {
		return "planning project " + cmp.Or(routes.ProjectName(mapping.ObjectID(project)), project)
	}
	if id, is := strings.CutPrefix(service, reconcile.ServicePaused("")); is {
		return "somebody to resume route " + routes.NameOf(id)
	}
	if repo, is := strings.CutPrefix(service, reconcile.ServiceRepository("")); is {
		return "repository " + repo + " to be writable"
	}
	if repo, is := strings.CutPrefix(service, reconcile.ServiceListing("")); is {
		return "the first look at the issues of " + repo
	}
	switch service {
	case reconcile.ServiceGitHub:
		return "GitHub"
	case reconcile.ServiceAdoption:
		return "the first look at all items"
	}
	return service
}

// SharedWords describes in words several services of one kind that keys wait for. It is ""
// where a service has a kind of its own.
func SharedWords(service string) string {
	switch {
	case strings.HasPrefix(service, reconcile.ServicePaused("")):
		return "somebody to resume routes"
	case strings.HasPrefix(service, reconcile.ServiceRepository("")):
		return "repositories to be writable"
	case strings.HasPrefix(service, reconcile.ServiceListing("")):
		return "the first look at the issues of repositories"
	}
	return ""
}
