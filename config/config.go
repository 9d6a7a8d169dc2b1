package config

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is the whole configuration. The yaml tags are the keys of the file. A field without a
// tag is derived.
type Config struct {
	Server     Server            `yaml:"server"`
	GitHub     GitHub            `yaml:"github"`
	Planning   Planning          `yaml:"planning"`
	Users      map[string]string `yaml:"users,file"` // GitHub login to planning username
	Store      Store             `yaml:"store"`
	MarkerKeys []Secret          `yaml:"marker_key,one"` // the first signs, all verify
	Labels     Labels            `yaml:"labels"`
	Brakes     Brakes            `yaml:"brakes"`
	// Coalesce is how long further edits of an item are folded after a write; 0: none are.
	Coalesce time.Duration `yaml:"coalesce"`
	// LedgerRetention is how long a conflict that waits for no answer stays in the ledger; 0: for
	// ever. LedgerArchive is the file to which expired conflicts are first appended; "": they are
	// only removed.
	LedgerRetention time.Duration `yaml:"ledger_retention"`
	LedgerArchive   string        `yaml:"ledger_archive"`
	// VerifyInterval is how often all links are verified; 0: only by hand.
	VerifyInterval time.Duration `yaml:"verify_interval"`
	Retry          Retry         `yaml:"retry"`
	// Include lists more files with routes and users, relative to this one.
	Include []string `yaml:"include"`
	Routes  []Route  `yaml:"routes"` // in the file's order, then those of included files

	src *source // the position of each key in the file; nil for a Config made in Go
}

// Server has the addresses on which planbridge listens, as host:port.
type Server struct {
	Listen      string `yaml:"listen"`       // public: webhooks only
	AdminListen string `yaml:"admin_listen"` // private: metrics, probes, status page, API
	// AdminToken is required on an admin listener that is not on a loopback address, except for
	// metrics and probes. Zero: none.
	AdminToken Secret `yaml:"admin_token"`
	// AdminHosts are further host names that the admin listener accepts. On a loopback address it
	// always accepts localhost and loopback addresses. On another address it always accepts
	// addresses, names without a dot and private domains.
	AdminHosts []string `yaml:"admin_hosts"`
	// AdminUserHeader names the header in which a reverse proxy names the acting user. Only
	// TrustedProxies may set it: addresses, and networks such as 10.0.0.0/8.
	AdminUserHeader string   `yaml:"admin_user_header"`
	TrustedProxies  []string `yaml:"trusted_proxies"`
	// ProtectMetrics requires AdminToken for the metrics too, wherever the listener is.
	ProtectMetrics bool `yaml:"protect_metrics"`
}

// GitHub is the GitHub side. Exactly one of Token and App is set.
type GitHub struct {
	APIURL          string        `yaml:"api_url"`         // without a trailing slash
	WebhookSecrets  []Secret      `yaml:"webhook_secrets"` // for all repositories without an entry in Webhooks
	Webhooks        []Webhook     `yaml:"webhooks"`
	Token           Secret        `yaml:"token"`
	App             *App          `yaml:"app"`
	CatchUpInterval time.Duration `yaml:"catch_up_interval"`
	Settle          time.Duration `yaml:"settle"`
	EnterDelay      time.Duration `yaml:"enter_delay"`
	WritesPerMinute int           `yaml:"writes_per_minute"` // writes that make content, for all replicas together
	WritesPerHour   int           `yaml:"writes_per_hour"`
	EditsPerMinute  int           `yaml:"edits_per_minute"`  // all other writes
	PointsPerMinute int           `yaml:"points_per_minute"` // requests of the REST API: a read has one point, a write five
	FormerAccounts  []string      `yaml:"former_accounts"`   // earlier logins of the bridge, or the present one where GitHub does not tell it
}

// Webhook is a group of repositories with the secrets that may sign their deliveries.
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
	BaseURL           string             `yaml:"base_url"` // the part before /api/, without a trailing slash
	CardURL           string             `yaml:"card_url"` // a card's page, see [Planning.CardPage]; "": not known
	PollInterval      time.Duration      `yaml:"poll_interval"`
	PollMin           time.Duration      `yaml:"poll_min"`
	TaskSweepInterval time.Duration      `yaml:"task_sweep_interval"`
	Settle            time.Duration      `yaml:"settle"`
	Projects          map[string]Project `yaml:"projects"` // by the name that routes use
}

// Project is one planning project. Username makes the writes of users without an entry in Users.
type Project struct {
	ID       string `yaml:"id"` // usually 24 hexadecimal digits
	Secret   Secret `yaml:"secret"`
	Username string `yaml:"username"`
}

// Labels names the labels with values. Estimate, Hours and Card contain [ValuePlaceholder] once.
type Labels struct {
	Prefix     string `yaml:"prefix"`
	InProgress string `yaml:"in_progress"`
	Estimate   string `yaml:"estimate"`
	Hours      string `yaml:"hours"`
	Card       string `yaml:"card"` // "": the card's number is not shown
}

// ValuePlaceholder stands for the number in a label pattern.
const ValuePlaceholder = "{value}"

// CardPage is the address of a card's page, by the pattern CardURL. In the pattern {project} and
// {card} stand for ids, and {cid} for the card's number.
func (p *Planning) CardPage(project, card string, cid int64) string {
	return strings.NewReplacer("{project}", url.PathEscape(project), "{card}", url.PathEscape(card), "{cid}", strconv.FormatInt(cid, 10)).Replace(p.CardURL)
}

// Brakes bound the acts of one route in a minute; further ones wait.
type Brakes struct {
	CreatesPerMinute int `yaml:"creates_per_minute"`
	ClosesPerMinute  int `yaml:"closes_per_minute"`
}

// Retry bounds the attempts before a key is parked as a failure.
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

// Route maps issues of a repository to a bucket of a project. It contains the file's defaults.
type Route struct {
	Repository   string   `yaml:"repository"`   // owner/name, or a glob in the name
	Repositories []string `yaml:"repositories"` // several of these, instead of Repository
	Exclude      []string `yaml:"exclude"`      // repositories that a glob does not match
	Name         string   `yaml:"name"`         // unique; the repository where the file gives none
	Project      string   `yaml:"project"`      // a key of Planning.Projects
	Bucket       string   `yaml:"bucket"`       // title or id
	// BucketByLabel sends issues with a label to another bucket. Of several labels, the first of
	// BucketLabels counts: its keys in the file's order.
	BucketByLabel map[string]string `yaml:"bucket_by_label"`
	BucketLabels  []string
	Issues        Issues `yaml:"issues"`
	Direction     string `yaml:"direction"`
	AllowPublic   bool   `yaml:"allow_public"`
	// CreateIssues is always false where NewCardsIn is "".
	CreateIssues bool `yaml:"create_issues"`
	// NewCardsIn is the repository in which new cards become issues: the route's only one, or the
	// one in the file; "": none.
	NewCardsIn string `yaml:"new_cards_in"`
	Tasks      string `yaml:"tasks"`
	// TasksPerCard bounds the tasks of sub-issues or checklist lines on one card.
	TasksPerCard int    `yaml:"tasks_per_card"`
	Images       string `yaml:"images"` // how planning shows remote images
	TrackingTask bool   `yaml:"tracking_task"`
	Force        bool   `yaml:"force"`
	// Conflicts has a policy for each of title, summary, estimate and state, and the default for
	// those that the file omits.
	Conflicts map[string]string `yaml:"conflicts,merge"`
	File      string            // the route's file; "" for a Config made in Go
	Line      int               // the line where the route begins
}

// Issues selects the issues of a repository that a route takes.
type Issues struct {
	Labels        []string `yaml:"labels"` // any of them; empty: all issues
	ExcludeLabels []string `yaml:"exclude_labels"`
	Authors       string   `yaml:"authors"`
	// Quarantine says whether strangers' issues on a public repository wait until a person with
	// triage rights lets them in.
	Quarantine string `yaml:"quarantine"`
}

// Patterns lists the repositories of a route: names and globs.
func (r *Route) Patterns() []string {
	if r.Repository == "" {
		return r.Repositories
	}
	return append([]string{r.Repository}, r.Repositories...)
}

// covers reports whether a route is for a repository, by its exact name or by a glob.
func (r *Route) covers(repository string) (covered, exactly bool) {
	matches := func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(repository))
		return err == nil && ok
	}
	for _, pattern := range r.Patterns() {
		if !isGlob(pattern) && strings.EqualFold(pattern, repository) {
			return true, true
		}
		covered = covered || matches(pattern)
	}
	return covered && !slices.ContainsFunc(r.Exclude, matches), false
}

func isGlob(repository string) bool { return strings.ContainsAny(repository, "*?[") }

// createsIssues reports whether new cards of the route's buckets become issues.
func (r *Route) createsIssues() bool { return r.CreateIssues && r.Direction != ToPlanning }

// defaults returns the values of keys that the file omits.
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
			PointsPerMinute: 850,
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

// routeDefaults returns the values of keys that neither a route nor the file's defaults have.
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
