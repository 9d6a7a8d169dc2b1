package config

import (
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"
)

// Config is the whole configuration. The yaml tags are the keys of the file;
// a field without one is derived.
type Config struct {
	Server     Server            `yaml:"server"`
	GitHub     GitHub            `yaml:"github"`
	Planning   Planning          `yaml:"planning"`
	Users      map[string]string `yaml:"users,file"` // GitHub login to planning username
	Store      Store             `yaml:"store"`
	MarkerKeys []Secret          `yaml:"marker_key,one"` // the first signs, all verify
	Labels     Labels            `yaml:"labels"`
	Brakes     Brakes            `yaml:"brakes"`
	// Coalesce is how long further edits of an item are folded after a write; 0: not.
	Coalesce time.Duration `yaml:"coalesce"`
	// LedgerRetention is how long a conflict stays in the ledger that waits for no
	// answer; 0: for ever. LedgerArchive is the file to which expired ones are appended
	// first; "": they are only removed.
	LedgerRetention time.Duration `yaml:"ledger_retention"`
	LedgerArchive   string        `yaml:"ledger_archive"`
	// VerifyInterval is how often all links are verified; 0: only by hand.
	VerifyInterval time.Duration `yaml:"verify_interval"`
	Retry          Retry         `yaml:"retry"`
	// Include are more files with routes and users, relative to this one.
	Include []string `yaml:"include"`
	Routes  []Route  `yaml:"routes"` // in the file's order, those of included files last

	src *source // where things stand in the file; nil for a Config made in Go
}

// Server says where planbridge listens, as host:port.
type Server struct {
	Listen      string `yaml:"listen"`       // public: webhooks only
	AdminListen string `yaml:"admin_listen"` // private: metrics, probes, status page, API
	// AdminToken is demanded on the admin listener, but for metrics and
	// probes, where that does not listen on a loopback address. Zero: none.
	AdminToken Secret `yaml:"admin_token"`
	// AdminHosts are more names to which the admin listener answers. On a loopback address
	// it answers to localhost and loopback addresses without them. On another it does to
	// addresses, names without a dot and private domains.
	AdminHosts []string `yaml:"admin_hosts"`
	// AdminUserHeader names the header in which a reverse proxy says who acts. It is
	// believed from TrustedProxies alone: addresses, and networks such as 10.0.0.0/8.
	AdminUserHeader string   `yaml:"admin_user_header"`
	TrustedProxies  []string `yaml:"trusted_proxies"`
	// ProtectMetrics demands AdminToken for the metrics too, wherever the listener is.
	ProtectMetrics bool `yaml:"protect_metrics"`
}

// GitHub is the GitHub side. Exactly one of Token and App is set.
type GitHub struct {
	APIURL          string        `yaml:"api_url"`         // without a trailing slash
	WebhookSecrets  []Secret      `yaml:"webhook_secrets"` // for all repositories that Webhooks does not name
	Webhooks        []Webhook     `yaml:"webhooks"`
	Token           Secret        `yaml:"token"`
	App             *App          `yaml:"app"`
	CatchUpInterval time.Duration `yaml:"catch_up_interval"`
	Settle          time.Duration `yaml:"settle"`
	EnterDelay      time.Duration `yaml:"enter_delay"`
	WritesPerMinute int           `yaml:"writes_per_minute"` // that make content, of all replicas together
	WritesPerHour   int           `yaml:"writes_per_hour"`
	EditsPerMinute  int           `yaml:"edits_per_minute"` // all other writes
	FormerAccounts  []string      `yaml:"former_accounts"`  // logins the bridge had before, or has where GitHub does not tell it
}

// Webhook is what is believed about some repositories: deliveries that one of the
// secrets signed.
type Webhook struct {
	Repositories []string `yaml:"repositories"` // owner/name; owner or owner/* for all of an owner's
	Secrets      []Secret `yaml:"secrets"`
}

// App is a GitHub App. PrivateKey is an RSA key in PEM.
type App struct {
	ID         int64  `yaml:"id"`
	PrivateKey Secret `yaml:"private_key"`
}

// Planning is the planning side.
type Planning struct {
	BaseURL           string             `yaml:"base_url"` // what stands before /api/, without a trailing slash
	PollInterval      time.Duration      `yaml:"poll_interval"`
	PollMin           time.Duration      `yaml:"poll_min"`
	TaskSweepInterval time.Duration      `yaml:"task_sweep_interval"`
	Settle            time.Duration      `yaml:"settle"`
	Projects          map[string]Project `yaml:"projects"` // by the name that routes use
}

// Project is one planning project. Username makes the writes that no entry of
// Users covers.
type Project struct {
	ID       string `yaml:"id"` // usually 24 hexadecimal digits
	Secret   Secret `yaml:"secret"`
	Username string `yaml:"username"`
}

// Labels names the labels that carry values. Estimate, Hours and Card hold
// [ValuePlaceholder] once.
type Labels struct {
	Prefix     string `yaml:"prefix"`
	InProgress string `yaml:"in_progress"`
	Estimate   string `yaml:"estimate"`
	Hours      string `yaml:"hours"`
	Card       string `yaml:"card"` // "": the card's number is not shown
}

// ValuePlaceholder stands for the number in a label pattern.
const ValuePlaceholder = "{value}"

// Brakes bound what one route may do in a minute; what is over waits.
type Brakes struct {
	CreatesPerMinute int `yaml:"creates_per_minute"`
	ClosesPerMinute  int `yaml:"closes_per_minute"`
}

// Retry bounds what is tried again before it is parked as a failure.
type Retry struct {
	MaxAttempts int           `yaml:"max_attempts"`
	MaxInterval time.Duration `yaml:"max_interval"`
}

// The values of [Route].Direction.
const (
	Both       = "both"
	ToPlanning = "to_planning"
	ToGitHub   = "to_github"
)

// The values of [Route].Tasks.
const (
	SubIssues = "sub_issues"
	Checklist = "checklist"
	NoTasks   = "none"
)

// The values of [Route].Images.
const (
	LinkImages   = "link"
	InlineImages = "inline"
)

// The values of [Issues].Authors.
const (
	Anyone       = "any"
	Contributors = "contributors"
	Members      = "members"
)

// The values of [Issues].Quarantine.
const (
	QuarantineAuto = "auto"
	QuarantineOff  = "off"
)

// The values of [Route].Conflicts.
const (
	PlanningWins = "planning"
	GitHubWins   = "github"
	Newest       = "newest"
	Ask          = "ask"
	Merge        = "merge"
)

// Route says which issues of a repository live in which bucket of which
// project. It stands on its own: what the file's defaults say is in it.
type Route struct {
	Repository   string   `yaml:"repository"`   // owner/name, or a glob in the name
	Repositories []string `yaml:"repositories"` // several of these, in the place of Repository
	Exclude      []string `yaml:"exclude"`      // what a glob leaves out
	Name         string   `yaml:"name"`         // unique; the repository where the file gives none
	Project      string   `yaml:"project"`      // a key of Planning.Projects
	Bucket       string   `yaml:"bucket"`       // title or id
	// BucketByLabel sends issues with a label to another bucket; where several
	// labels apply, the first of BucketLabels, its keys in the file's order.
	BucketByLabel map[string]string `yaml:"bucket_by_label"`
	BucketLabels  []string
	Issues        Issues `yaml:"issues"`
	Direction     string `yaml:"direction"`
	AllowPublic   bool   `yaml:"allow_public"`
	// CreateIssues is always false where NewCardsIn is "".
	CreateIssues bool `yaml:"create_issues"`
	// NewCardsIn is the repository in which new cards become issues: the route's only
	// one, or the one that the file says; "": none.
	NewCardsIn string `yaml:"new_cards_in"`
	Tasks      string `yaml:"tasks"`
	// TasksPerCard bounds the tasks that sub-issues or checklist lines get on one card.
	TasksPerCard int    `yaml:"tasks_per_card"`
	Images       string `yaml:"images"` // how planning shows remote images
	TrackingTask bool   `yaml:"tracking_task"`
	Force        bool   `yaml:"force"`
	// Conflicts has a policy for each of title, summary, estimate and state,
	// and the default that those not named by the file got.
	Conflicts map[string]string `yaml:"conflicts,merge"`
	File      string            // that the route stands in; "" for a Config made in Go
	Line      int               // where it begins there
}

// Issues says which issues of a repository a route takes.
type Issues struct {
	Labels        []string `yaml:"labels"` // any of them; none named: all issues
	ExcludeLabels []string `yaml:"exclude_labels"`
	Authors       string   `yaml:"authors"`
	// Quarantine says whether strangers' issues on a public repository wait until
	// a person with triage rights lets them in.
	Quarantine string `yaml:"quarantine"`
}

// Patterns lists the repositories of a route: names and globs.
func (r *Route) Patterns() []string {
	if r.Repository == "" {
		return r.Repositories
	}
	return append([]string{r.Repository}, r.Repositories...)
}

// takes reports whether a route is for a repository, by its exact name or by a glob.
func (r *Route) takes(repository string) (takes, exactly bool) {
	matches := func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(repository))
		return err == nil && ok
	}
	for _, pattern := range r.Patterns() {
		if !isGlob(pattern) && strings.EqualFold(pattern, repository) {
			return true, true
		}
		takes = takes || matches(pattern)
	}
	return takes && !slices.ContainsFunc(r.Exclude, matches), false
}

func isGlob(repository string) bool { return strings.ContainsAny(repository, "*?[") }

// createsIssues reports whether new cards of the route's buckets become issues.
func (r *Route) createsIssues() bool { return r.CreateIssues && r.Direction != ToPlanning }

// defaults returns what holds where the file says nothing.
func defaults() Config {
	return Config{
		Server: Server{Listen: ":8080", AdminListen: "127.0.0.1:9090"},
		GitHub: GitHub{
			APIURL:          "https://api.github.com",
			CatchUpInterval: 5 * time.Minute,
			Settle:          2 * time.Minute,
			EnterDelay:      2 * time.Second,
			WritesPerMinute: 70,
			WritesPerHour:   450,
			EditsPerMinute:  60,
		},
		Planning: Planning{
			PollInterval:      30 * time.Second,
			PollMin:           2 * time.Second,
			TaskSweepInterval: 10 * time.Minute,
			Settle:            30 * time.Second,
		},
		Store:           Store{URL: "file:planbridge.db", Prefix: "planbridge"},
		Labels:          Labels{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"},
		Brakes:          Brakes{CreatesPerMinute: 300, ClosesPerMinute: 120},
		Coalesce:        2 * time.Second,
		LedgerRetention: 365 * 24 * time.Hour,
		VerifyInterval:  24 * time.Hour,
		Retry:           Retry{MaxAttempts: 12, MaxInterval: 5 * time.Minute},
	}
}

// routeDefaults returns what holds where neither a route nor the file's
// defaults say anything.
func routeDefaults() Route {
	return Route{
		Issues:       Issues{Authors: Anyone, Quarantine: QuarantineAuto},
		Direction:    Both,
		CreateIssues: true,
		Tasks:        SubIssues,
		TasksPerCard: 200,
		Images:       LinkImages,
		TrackingTask: true,
		Conflicts:    map[string]string{"default": Merge},
	}
}

// Proxies returns the networks of TrustedProxies.
func (s *Server) Proxies() []netip.Prefix {
	var out []netip.Prefix
	for _, text := range s.TrustedProxies {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p.Masked())
		} else if addr, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(addr, addr.BitLen()))
		}
	}
	return out
}
