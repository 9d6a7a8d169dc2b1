package preflight

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"planbridge/mapping"
)

// Expanded is the meaning of a configuration for one repository.
type Expanded struct {
	Repository string `json:"repository"`
	Route      string `json:"route,omitempty"` // "": none takes it
	Project    string `json:"project,omitempty"`
	Bucket     string `json:"bucket,omitempty"`
	Why        string `json:"why"`
}

// Expand returns the effective routes of each repository that a configuration names. It includes
// those that GitHub lists for the owners of its globs, sorted by the repositories' names.
func Expand(ctx context.Context, plan *Plan, services Services) ([]Expanded, error) {
	routes := plan.Routes
	names, owners := map[string]string{}, map[string]bool{}
	out := []Expanded{}
	for _, r := range routes.All() {
		for _, name := range r.Named() {
			names[strings.ToLower(name)] = name
		}
		for _, glob := range r.Globs() {
			owner, _, _ := strings.Cut(glob, "/")
			owners[owner] = true
		}
	}
	if len(owners) > 0 {
		hub, err := services.OpenGitHub()
		if err != nil {
			return nil, err
		}
		defer hub.Close()
		for owner := range mapping.Sorted(owners) {
			repos, err := hub.OrgRepositories(ctx, owner)
			if mapping.Refused(err) {
				out = append(out, unlisted(routes, owner, err)...)
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("list repositories of %s: %w", owner, err)
			}
			for _, r := range repos {
				names[strings.ToLower(r.FullName)] = r.FullName
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, expand(plan, names[name])...)
	}
	return out, nil
}

// unlisted returns the globs of an owner whose repositories GitHub does not list.
func unlisted(routes mapping.Routes, owner string, err error) (out []Expanded) {
	for _, r := range routes.All() {
		for _, glob := range r.Globs() {
			if of, _, _ := strings.Cut(glob, "/"); of == owner {
				out = append(out, Expanded{glob, r.Name, r.ProjectName, r.Bucket, fmt.Sprintf("its repositories cannot be listed: %v", err)})
			}
		}
	}
	return out
}

// expand returns the routes of one repository.
func expand(plan *Plan, repository string) (out []Expanded) {
	taking := plan.Routes.ForRepo(repository)
	for i, r := range taking {
		why := "it is named"
		if !r.Names(repository) {
			why = "no route names it, and it matches " + strings.Join(r.Globs(), " or ")
		}
		if at := plan.Origins[r.Name]; at != "" {
			why += " (" + at + ")"
		}
		if i > 0 {
			why += "; it takes what the routes before it do not"
		}
		out = append(out, Expanded{repository, r.Name, r.ProjectName, r.Bucket, why})
	}
	if len(taking) > 0 {
		return out
	}
	if r := plan.Routes.Excluding(repository); r != nil {
		return []Expanded{{Repository: repository, Why: "route " + r.Name + " excludes it"}}
	}
	return []Expanded{{Repository: repository, Why: "no route is for it"}}
}
