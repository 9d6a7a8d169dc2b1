package preflight

import (
	"context"
	"log/slog"
	"time"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Plan is the part of a configuration that can be proven.
type Plan struct {
	Routes   mapping.Routes
	Scheme   mapping.LabelScheme
	Projects map[string]Project // by their names in the configuration
	Store    Store
	// Weaknesses are the secrets that are easy to guess.
	Weaknesses []Weakness
	// Doubts are the values that are probably mistakes.
	Doubts []Doubt
	// Webhooks are the repositories of each entry of github.webhooks. Trust says which entry
	// applies to a repository.
	Webhooks [][]string
	Trust    Trust
	// FormerAccounts are the bridge's former logins.
	FormerAccounts []string
	// IsApp says that the bridge acts on GitHub as an App.
	IsApp           bool
	CatchUpInterval time.Duration
	// QuarantineUnsaid names the routes on which strangers' issues wait by default.
	QuarantineUnsaid map[string]bool
	// HookURL is the address of new webhooks; "": none is created.
	HookURL string
	// AgainstRunning counts the links as the running service shows them, where one answers. Links
	// of a project that its configuration does not name are dormant for that alone.
	AgainstRunning bool
	// Origins are the file and the line of each route.
	Origins map[string]string
}

// Project is one planning project of a configuration.
type Project struct {
	ID       mapping.ObjectID
	Username string
}

// Store is where a configuration keeps its links.
type Store struct {
	File string // "": the store is no file
	Name string // without secrets
}

// Doubt is a value of the configuration that is probably a mistake.
type Doubt struct {
	Path   string // its key
	Reason string // its effect, and the value to set
}

// Weakness is a secret that is easy to guess, or that reveals another one.
type Weakness struct {
	Path   string // the key
	Reason string
}

// Trust says which secret a delivery needs.
type Trust interface {
	// WebhooksOf returns the entry of github.webhooks for a repository, or -1.
	WebhooksOf(repository string) int
	// WebhookSecretOf returns the secret that signs deliveries about a repository, or about an
	// owner's repositories.
	WebhookSecretOf(repository string) string
}

// QuarantineAdvice is for the operator of a route with a public repository whose configuration
// is older than the quarantine.
const QuarantineAdvice = "issues of strangers wait in quarantine until a person with triage rights labels or assigns them: " +
	"issues.quarantine says auto to confirm that, off to let them in at once"

// RequestTimeout bounds one request of a check.
const RequestTimeout = 10 * time.Second

// Services opens the services that a configuration names. Requests take [RequestTimeout] at
// most.
type Services interface {
	OpenGitHub() (GitHub, error)
	// OpenPlanning opens the project of a name in the configuration.
	OpenPlanning(project string) (Planning, error)
	// OpenStore wraps store.ErrInUse where another process has the store.
	OpenStore(ctx context.Context, log *slog.Logger) (store.Store, error)
	// RunningLinks visits the links of the service that runs with this configuration. An error
	// says why none answered.
	RunningLinks(ctx context.Context, visit func(status.Link)) error
	// RunningUnready returns why that service is not ready; "": it is. An error says why none
	// answered.
	RunningUnready(ctx context.Context) (string, error)
}

// GitHub is the used part of the GitHub client. Errors match the sentinels of mapping.
type GitHub interface {
	// Viewer returns the login of the account that acts.
	Viewer(ctx context.Context) (string, error)
	Access(ctx context.Context, owner string) (Access, error)
	Repository(ctx context.Context, name string) (Repository, error)
	// OrgRepositories lists the repositories of an owner that can be seen.
	OrgRepositories(ctx context.Context, owner string) ([]Repository, error)
	// ListHooks lists the webhooks of a repository, of an owner, or of the App ("").
	ListHooks(ctx context.Context, owner string) ([]Hook, error)
	// CreateHook creates an active webhook where ListHooks finds it, or sets the App's. After
	// an error it may exist all the same.
	CreateHook(ctx context.Context, owner string, hook Hook, secret string) error
	// Deliveries lists the deliveries of a webhook, newest first.
	Deliveries(ctx context.Context, owner string, hook int64, since time.Time) ([]Delivery, error)
	Close()
}

// Access is the rights of the credentials.
type Access struct {
	Kind        string            // "app", "classic" (scopes) or "fine-grained" (only a try shows them)
	Scopes      []string          // of a classic token
	Permissions map[string]string // of an App's installation: "issues": "write" …
	Events      []string          // that an App's webhook sends about the installation
}

// Repository is one repository as it is now.
type Repository struct {
	FullName                     string
	Private, Archived, HasIssues bool
	Permissions                  map[string]bool // nil where GitHub does not say
}

// Hook is one webhook.
type Hook struct {
	ID     int64
	URL    string
	Events []string
	Active bool
}

// Delivery is one attempt to deliver an event.
type Delivery struct {
	GUID        string // of the event
	DeliveredAt time.Time
	StatusCode  int // 0 where there was no answer
}

// Planning is the used part of one planning project.
type Planning interface {
	// Project returns the project's title, its owner and the buckets that it names.
	Project(ctx context.Context) (title, owner string, buckets []Bucket, err error)
	Buckets(ctx context.Context) ([]Bucket, error)
	Close()
}

// Bucket is a bucket of a project.
type Bucket struct {
	ID    mapping.ObjectID
	Title string
}
