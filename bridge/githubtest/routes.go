package githubtest

import (
	"net/http"
	"net/url"
	"strings"
)

// route is one endpoint. Its op is its name in the journal, faults and tests.
type route struct {
	method, pattern, op string
	handle              func(*call) reply
}

// readOnlyPosts are the operations that change no repository although they
// are posted.
var readOnlyPosts = map[string]bool{
	"graphql": true, "app.token": true, "hook.ping": true, "delivery.redeliver": true,
}

func (r *route) writes() bool { return r.method != http.MethodGet && !readOnlyPosts[r.op] }

// numeric are the path parameters that only digits match.
var numeric = map[string]bool{
	"{number}": true, "{milestone}": true, "{hook}": true, "{comment}": true,
	"{delivery}": true, "{installation}": true,
}

const (
	inRepo  = "/repos/{owner}/{repo}"
	anIssue = inRepo + "/issues/{number}"
)

// routes are all endpoints there are.
var routes = []route{
	{"GET", "/user", "user.get", getViewer},
	{"GET", "/users/{user}", "users.get", getUser},
	{"GET", "/orgs/{org}", "org.get", getOrg},
	{"GET", "/rate_limit", "ratelimit.get", getRateLimit},
	{"GET", "/meta", "meta.get", getMeta},
	{"POST", "/graphql", "graphql", postGraphQL},

	{"GET", "/app", "app.get", getApp},
	{"GET", "/app/installations", "app.installations", listInstallations},
	{"POST", "/app/installations/{installation}/access_tokens", "app.token", createInstallationToken},
	{"GET", "/installation/repositories", "installation.repos", listInstallationRepos},
	{"GET", inRepo + "/installation", "repo.installation", getRepoInstallation},
	{"GET", "/orgs/{org}/installation", "org.installation", getOrgInstallation},

	{"GET", inRepo, "repo.get", getRepo},
	{"GET", "/orgs/{org}/repos", "org.repos", listOrgRepos},
	{"GET", "/users/{user}/repos", "user.repos", listUserRepos},
	{"GET", inRepo + "/collaborators/{user}/permission", "permission.get", getPermission},

	{"GET", inRepo + "/issues", "issues.list", listIssues},
	{"POST", inRepo + "/issues", "issue.create", createIssue},
	{"GET", anIssue, "issue.get", getIssue},
	{"PATCH", anIssue, "issue.patch", patchIssue},

	{"GET", anIssue + "/labels", "labels.get", listIssueLabels},
	{"POST", anIssue + "/labels", "labels.add", addIssueLabels},
	{"PUT", anIssue + "/labels", "labels.set", setIssueLabels},
	{"DELETE", anIssue + "/labels", "labels.clear", clearIssueLabels},
	{"DELETE", anIssue + "/labels/{label}", "label.remove", removeIssueLabel},
	{"GET", inRepo + "/labels", "repolabels.list", listRepoLabels},
	{"POST", inRepo + "/labels", "repolabel.create", createRepoLabel},
	{"GET", inRepo + "/labels/{label}", "repolabel.get", getRepoLabel},
	{"PATCH", inRepo + "/labels/{label}", "repolabel.patch", patchRepoLabel},
	{"DELETE", inRepo + "/labels/{label}", "repolabel.delete", deleteRepoLabel},

	{"POST", anIssue + "/assignees", "assignees.add", addAssignees},
	{"DELETE", anIssue + "/assignees", "assignees.remove", removeAssignees},

	{"GET", anIssue + "/comments", "comments.list", listComments},
	{"POST", anIssue + "/comments", "comment.create", createComment},
	{"GET", inRepo + "/issues/comments/{comment}", "comment.get", getComment},
	{"PATCH", inRepo + "/issues/comments/{comment}", "comment.patch", patchComment},
	{"DELETE", inRepo + "/issues/comments/{comment}", "comment.delete", deleteComment},

	{"GET", inRepo + "/milestones", "milestones.list", listMilestones},
	{"POST", inRepo + "/milestones", "milestone.create", createMilestone},
	{"GET", inRepo + "/milestones/{milestone}", "milestone.get", getMilestone},
	{"PATCH", inRepo + "/milestones/{milestone}", "milestone.patch", patchMilestone},
	{"DELETE", inRepo + "/milestones/{milestone}", "milestone.delete", deleteMilestone},

	{"GET", anIssue + "/events", "events.list", listEvents},
	{"GET", anIssue + "/timeline", "timeline.list", listTimeline},
	{"GET", anIssue + "/sub_issues", "subissues.list", listSubIssues},
	{"POST", anIssue + "/sub_issues", "subissue.add", addSubIssue},
	{"DELETE", anIssue + "/sub_issue", "subissue.remove", removeSubIssue},
	{"GET", anIssue + "/parent", "parent.get", getParent},

	{"GET", inRepo + "/hooks", "hooks.list", listHooks},
	{"GET", "/orgs/{org}/hooks", "hooks.list", listHooks},
	{"POST", inRepo + "/hooks", "hook.create", createHook},
	{"POST", "/orgs/{org}/hooks", "hook.create", createHook},
	{"PATCH", "/app/hook/config", "hook.set", setAppHookConfig},
	{"POST", inRepo + "/hooks/{hook}/pings", "hook.ping", pingHook},
	{"GET", "/app/hook/config", "hook.config", getAppHookConfig},
	{"GET", inRepo + "/hooks/{hook}/deliveries", "deliveries.list", listDeliveries},
	{"GET", "/orgs/{org}/hooks/{hook}/deliveries", "deliveries.list", listDeliveries},
	{"GET", "/app/hook/deliveries", "deliveries.list", listDeliveries},
	{"GET", inRepo + "/hooks/{hook}/deliveries/{delivery}", "delivery.get", getDelivery},
	{"GET", "/orgs/{org}/hooks/{hook}/deliveries/{delivery}", "delivery.get", getDelivery},
	{"GET", "/app/hook/deliveries/{delivery}", "delivery.get", getDelivery},
	{"POST", inRepo + "/hooks/{hook}/deliveries/{delivery}/attempts", "delivery.redeliver", redeliver},
	{"POST", "/orgs/{org}/hooks/{hook}/deliveries/{delivery}/attempts", "delivery.redeliver", redeliver},
	{"POST", "/app/hook/deliveries/{delivery}/attempts", "delivery.redeliver", redeliver},
}

// match finds the endpoint of an escaped path, and its unescaped parameters. The ServeMux of
// net/http cannot serve here, as /issues/{number}/labels and /issues/comments/{comment} conflict in
// it.
func match(method, path string) (*route, map[string]string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	have := strings.Split(path, "/")
	for n := range routes {
		r := &routes[n]
		if r.method != method {
			continue
		}
		if params, is := matchPattern(strings.Split(r.pattern, "/"), have); is {
			return r, params
		}
	}
	return nil, nil
}

func matchPattern(want, have []string) (params map[string]string, is bool) {
	if len(want) != len(have) {
		return nil, false
	}
	params = map[string]string{}
	for i, w := range want {
		if !strings.HasPrefix(w, "{") {
			if w != have[i] {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(have[i])
		if err != nil || value == "" || (numeric[w] && strings.Trim(value, "0123456789") != "") {
			return nil, false
		}
		params[w[1:len(w)-1]] = value
	}
	return params, true
}

// escape is a path segment as GitHub writes it.
func escape(name string) string { return url.PathEscape(name) }
