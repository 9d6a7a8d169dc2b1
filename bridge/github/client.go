package github

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gogithub "github.com/google/go-github/v62/github"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"planbridge/mapping"
)

// App is the identity of a GitHub App.
type App struct {
	ID         int64
	PrivateKey []byte // PEM
}

// Metrics are the client's series. A nil field is not used.
type Metrics struct {
	Requests *prometheus.CounterVec   // labels api, operation, code (HTTP status, or "error")
	Duration *prometheus.HistogramVec // labels api, operation; seconds
	Waits    *prometheus.CounterVec   // label class; writes that the budget put off
}

// Options configure a client. It needs exactly one of Token and App.
type Options struct {
	// APIURL is the root of the REST API: https://api.github.com (the default), or
	// https://ghe.example.com/api/v3 of an Enterprise Server.
	APIURL string
	Token  string
	App    *App
	// FormerAccounts are the bridge's earlier logins; see Authorship.
	FormerAccounts []string

	// Share bounds the client's requests; nil: no bound.
	Share Share
	// Holds are shared with all replicas; nil: the client is alone.
	Holds Holds
	// WritePause is the least time between two writes of this client. GitHub asks for about a
	// second. 0: none. Writes are sequential anyway.
	WritePause time.Duration

	// Transport sends the requests; nil: a new http.Transport.
	Transport http.RoundTripper
	// Timeout bounds one request with its answer; 0: 20 s.
	Timeout time.Duration
	// Recovery is how long the breaker stays open before it lets one request try; 0: 10 s.
	Recovery time.Duration
	// CacheEntries and CacheBytes bound the ETag cache; 0: 4,096 and 32 MiB.
	CacheEntries int
	CacheBytes   int

	Metrics  *Metrics
	Observer Observer // nil: none
	Logger   *slog.Logger
}

// Observer learns how GitHub answers.
type Observer interface {
	// Asked is called with an operation, and with nil or an error about GitHub as a whole.
	Asked(operation string, err error)
}

// Client calls one GitHub as one account.
type Client struct {
	requests *gogithub.Client // builds requests; see the package comment
	http     *http.Client
	cache    *etags
	wire     *wire
	app      *appAuth // nil: a token
	graphql  string
	labels   labelBatch

	share   Share         // nil: no bound
	patient chan struct{} // held by requests that wait in place for budget or points
	pacer   *pacer        // nil: none
	turn    chan struct{} // held by the one write under way
	pause   *rate.Limiter // nil: none

	probes   atomic.Int64
	former   []string
	mu       sync.Mutex
	viewer   string             // "" until known
	viewerID int64              // 0 where GitHub did not say
	how      mapping.Authorship // how viewer is known
}

const (
	defaultAPIURL       = "https://api.github.com"
	defaultTimeout      = 20 * time.Second
	defaultRecovery     = 10 * time.Second
	defaultCacheEntries = 4096
	defaultCacheBytes   = 32 << 20
)

// New returns a client. It does no I/O; an error concerns the options.
func New(o Options) (*Client, error) {
	if (o.Token == "") == (o.App == nil) {
		return nil, errors.New("github: exactly one of a token and an app is needed")
	}
	o.setDefaults()
	base, err := url.Parse(strings.TrimRight(o.APIURL, "/") + "/")
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("github: API URL %q is not an absolute URL", o.APIURL)
	}
	c := &Client{
		requests: gogithub.NewClient(nil),
		wire:     newWire(o),
		graphql:  graphqlURL(base),
		share:    o.Share,
		patient:  make(chan struct{}, budgetPatients),
		turn:     make(chan struct{}, 1),
		labels:   labelBatch{turn: make(chan struct{}, 1)},
		former:   o.FormerAccounts,
	}
	c.pacer = newPacer(o.Share, c.patient)
	c.requests.BaseURL = base // WithEnterpriseURLs would append /api/v3 to unknown hosts
	c.requests.UserAgent = "planbridge"
	if o.WritePause > 0 {
		c.pause = rate.NewLimiter(rate.Every(o.WritePause), 1)
	}
	c.cache = newETags(c.wire, o.CacheEntries, o.CacheBytes)
	var auth http.RoundTripper = &tokenAuth{token: o.Token, next: c.cache}
	if o.App != nil {
		if c.app, err = newAppAuth(*o.App, base, c.cache, c.wire); err != nil {
			return nil, fmt.Errorf("github: app %d: %w", o.App.ID, err)
		}
		auth = c.app
	}
	c.http = &http.Client{Transport: auth, Timeout: o.Timeout, CheckRedirect: checkRedirect}
	return c, nil
}

func (o *Options) setDefaults() {
	if o.APIURL == "" {
		o.APIURL = defaultAPIURL
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Recovery == 0 {
		o.Recovery = defaultRecovery
	}
	if o.CacheEntries == 0 {
		o.CacheEntries = defaultCacheEntries
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = defaultCacheBytes
	}
	if o.Metrics == nil {
		o.Metrics = &Metrics{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// graphqlURL derives the GraphQL endpoint: /graphql beside the REST API, or on an Enterprise
// Server /api/graphql beside /api/v3.
func graphqlURL(base *url.URL) string {
	u := *base
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/v3") + "/graphql"
	return u.String()
}

// checkRedirect lets only reads follow a redirect, on the same host. Package net/http would repeat
// a redirected PATCH as a GET, which succeeds and loses the write. The redirect of a write becomes
// ErrMoved.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != http.MethodGet || req.URL.Scheme != first.URL.Scheme ||
		req.URL.Host != first.URL.Host || len(via) > 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// Close closes idle connections.
func (c *Client) Close() { c.wire.closeIdle() }

// Down reports whether GitHub counts as down: its breaker opened, and no request succeeded since.
// Requests then fail with mapping.ErrUnavailable at once.
func (c *Client) Down() bool { return c.wire.down() }

// RateRemaining returns the remaining requests of the primary limit's window at the last answer,
// or -1 before the first one.
func (c *Client) RateRemaining() int {
	if a := c.wire.allowance.Load(); a != nil {
		return a.remaining
	}
	return -1
}

// RateScarce reports whether so much of the primary limit's hour is spent that requests which can
// wait should.
func (c *Client) RateScarce() bool { return c.wire.allowance.Load().scarce(time.Now()) }
