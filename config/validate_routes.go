package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// attributes are the keys of conflicts, besides default.
var attributes = []string{"title", "summary", "estimate", "state"}

func (k *checker) routes(c *Config) {
	if len(c.Routes) == 0 && !k.failed("routes") {
		k.fault("routes", "nothing", "a list of one route or more")
	}
	for i := range c.Routes {
		path := c.src.route(i)
		k.route(path, &c.Routes[i])
		k.project(path, &c.Routes[i], c.Planning.Projects)
	}
	k.fileDefaults(c)
	k.names(c.Routes)
	k.creators(c.Routes)
	k.homes(c.Routes)
}

// fileDefaults checks the file's defaults, through a route without keys.
func (k *checker) fileDefaults(c *Config) {
	if c.src != nil && c.src.says("defaults") {
		k.routeValues("defaults", &c.src.defaults)
	}
}

func (k *checker) route(path string, r *Route) {
	k.repositories(path, r)
	k.required(path+".bucket", r.Bucket, wantLine)
	k.routeValues(path, r)
	globs := slices.ContainsFunc(r.Patterns(), isGlob)
	if len(r.Exclude) > 0 && !globs && k.says(path+".exclude") {
		k.fault(path+".exclude", "an exclusion", "none, as the repository is no glob")
	}
	if r.CreateIssues && r.NewCardsIn == "" && k.says(path+".create_issues") {
		switch {
		case globs:
			k.fault(path+".create_issues", "true", "false, as a glob does not say in which repository an issue would be made")
		case len(r.Patterns()) > 1:
			k.fault(path+".create_issues", "true", "false or new_cards_in, as several repositories do not say in which of them an issue would be made")
		}
	}
}

// repositories checks that a route names its repositories in one way.
func (k *checker) repositories(path string, r *Route) {
	several := path + ".repositories"
	if !k.isGiven(k.origin(path, "repositories"), len(r.Repositories) > 0) {
		k.required(path+".repository", r.Repository, wantRepository)
		return
	}
	if k.isGiven(path+".repository", r.Repository != "") {
		k.fault(several, "both repository and repositories", "one of the two")
	}
	if len(r.Repositories) == 0 {
		k.fault(several, "none", "one repository or more")
	}
	if r.Name == "" {
		k.fault(path+".name", "nothing", "a name, as the route has several repositories")
	}
	seen := map[string]bool{}
	for i, repository := range r.Repositories {
		if folded := strings.ToLower(repository); seen[folded] {
			k.fault(fmt.Sprintf("%s[%d]", several, i), quote(repository), "each repository once")
		} else {
			seen[folded] = true
		}
	}
}

// homes checks that new cards become issues in a repository of their route.
func (k *checker) homes(routes []Route) {
	for i := range routes {
		r, path := &routes[i], k.src.route(i)
		at := k.origin(path, "new_cards_in")
		if r.NewCardsIn == "" || wantRepositoryName(r.NewCardsIn) != "" || !k.says(at) {
			continue
		}
		takes, exactly := r.covers(r.NewCardsIn)
		if !takes {
			k.fault(at, quote(r.NewCardsIn), "a repository that the route is for")
			continue
		}
		j := slices.IndexFunc(routes, func(other Route) bool { _, exact := other.covers(r.NewCardsIn); return exact })
		if !exactly && j >= 0 {
			k.fault(at, quote(r.NewCardsIn), "a repository that is no other route's: it is that of "+k.whichRoute(j, &routes[j]))
		}
	}
}

// routeValues checks each value by itself.
func (k *checker) routeValues(path string, r *Route) {
	if r.Repository != "" {
		k.text(path+".repository", r.Repository, wantRepository)
	}
	k.texts(path+".repositories", r.Repositories, wantRepository)
	k.texts(path+".exclude", r.Exclude, wantRepository)
	if r.NewCardsIn != "" {
		k.text(path+".new_cards_in", r.NewCardsIn, wantRepositoryName)
	}
	k.text(path+".name", r.Name, wantRouteName)
	k.text(path+".bucket", r.Bucket, wantLine)
	labels := path + ".bucket_by_label"
	k.foldedKeys(labels, slices.Collect(maps.Keys(r.BucketByLabel)), wantLabel)
	for label, bucket := range r.BucketByLabel {
		k.text(joinPath(labels, label), bucket, wantLine)
	}
	k.texts(path+".issues.labels", r.Issues.Labels, wantLabel)
	k.texts(path+".issues.exclude_labels", r.Issues.ExcludeLabels, wantLabel)
	k.oneOf(path+".issues.authors", r.Issues.Authors, Anyone, Contributors, Members)
	k.oneOf(path+".issues.quarantine", r.Issues.Quarantine, QuarantineAuto, QuarantineOff)
	k.oneOf(path+".direction", r.Direction, Both, ToPlanning, ToGitHub)
	k.oneOf(path+".tasks", r.Tasks, SubIssues, Checklist, NoTasks)
	k.count(path+".tasks_per_card", r.TasksPerCard, 10_000)
	k.oneOf(path+".images", r.Images, LinkImages, InlineImages)
	conflicts, known := path+".conflicts", append([]string{"default"}, attributes...)
	for attribute, policy := range r.Conflicts {
		at := joinPath(conflicts, attribute)
		if !slices.Contains(known, attribute) && k.says(at) {
			k.fault(at, "unknown attribute", "one of "+strings.Join(known, ", ")+suggest(attribute, known))
			continue
		}
		k.oneOf(at, policy, PlanningWins, GitHubWins, Newest, Ask, Merge)
	}
}

// wantRouteName wants a name that metrics and commands can use. A repository or a glob is such a
// name.
func wantRouteName(s string) string {
	if wantLine(s) != "" || len(s) > 140 || strings.ContainsAny(s, " \"'`$") {
		return "a name without blanks and quotes, up to 140 characters"
	}
	return ""
}

// project checks that a route's project exists.
func (k *checker) project(path string, r *Route, projects map[string]Project) {
	if _, ok := projects[r.Project]; ok || k.failed("planning.projects") {
		return
	}
	names := slices.Sorted(maps.Keys(projects))
	want := "a project of planning.projects (" + strings.Join(names, ", ") + ")" + suggest(r.Project, names)
	if at := k.origin(path, "project"); k.isGiven(at, r.Project != "") {
		k.fault(at, quote(r.Project), want)
	} else {
		k.fault(path+".project", "nothing", want)
	}
}

// origin is the path of a route's value for faults; see source.origin.
func (k *checker) origin(route, key string) string {
	if k.src == nil {
		return route + "." + key
	}
	return k.src.origin(route, key)
}

// names checks that each route has a unique name.
func (k *checker) names(routes []Route) {
	first := map[string]int{}
	for i := range routes {
		r, path := &routes[i], k.src.route(i)
		folded := strings.ToLower(r.Name)
		j, doubled := first[folded]
		if !doubled {
			first[folded] = i
			continue
		}
		if folded == "" {
			continue
		}
		other := k.whichRoute(j, &routes[j])
		if at := k.origin(path, "name"); k.isGiven(at, k.src == nil) {
			k.fault(at, quote(r.Name), "a name of its own: it is that of "+other)
		} else {
			k.fault(path+".name", "nothing", "a name, as "+other+" is called "+quote(r.Name)+" too")
		}
	}
}

// whichRoute names a route in a fault about another one.
func (k *checker) whichRoute(i int, r *Route) string {
	if k.src == nil {
		return k.src.route(i)
	}
	if r.File != k.src.files[0] {
		return fmt.Sprintf("%s on line %d of %s", inFile(k.src.route(i)), r.Line, r.File)
	}
	return fmt.Sprintf("%s on line %d", k.src.route(i), r.Line)
}

// creators checks that a new card has one route that makes its issue. With two, chance would
// select the repository.
func (k *checker) creators(routes []Route) {
	type bucket struct{ project, name string }
	first := map[bucket]int{}
	for i := range routes {
		r, path := &routes[i], k.src.route(i)
		if !r.createsIssues() {
			continue
		}
		blamed := false
		for _, name := range r.buckets() {
			b := bucket{r.Project, name}
			j, taken := first[b]
			if !taken {
				first[b] = i
			} else if j != i && !blamed {
				blamed = true
				k.fault(path+".create_issues", "true for the bucket "+quote(name),
					"false here or in "+k.whichRoute(j, &routes[j])+": only one route may create issues for a bucket")
			}
		}
	}
}

// buckets lists all buckets of a route, or none where it has none.
func (r *Route) buckets() []string {
	all := append([]string{r.Bucket}, slices.Sorted(maps.Values(r.BucketByLabel))...)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == "" })
}
