package planning

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"planbridge/bridge/factlog"
	"planbridge/mapping"
)

// Options select a project of a service and configure the [Client]. Zero values mean the defaults
// given here.
type Options struct {
	BaseURL string           // may have a path prefix; https, or http for a loopback host
	Project mapping.ObjectID // required
	Secret  string           // of the project; required

	HTTPClient *http.Client // its Transport, Timeout and Jar are used; nil: a new pooled one
	Metrics    *Metrics     // nil: none
	Logger     *slog.Logger // nil: none
	Observer   Observer     // nil: none

	Timeout     time.Duration // for one request with its answer; 30s
	BulkTimeout time.Duration // for the backlog listing with the visits of its cards; 5m

	ReadRetries  int           // retries of a failed read; 2; negative: none
	RetryPause   time.Duration // before the first retry, then growing; 200ms
	Random       Random        // nil: the runtime's
	BreakerAfter int           // consecutive failures that open the circuit breaker; 5
	BreakerPause time.Duration // how long it stays open before one request may try; 15s
}

// Observer learns how requests end.
type Observer interface {
	Asked(operation string, err error)
}

// Random draws numbers in [0, n), which spread the pauses. It is safe for concurrent use.
type Random interface {
	Int64N(n int64) int64
}

// runtimeRandom draws from the runtime.
type runtimeRandom struct{}

// Int64N implements [Random].
func (runtimeRandom) Int64N(n int64) int64 { return rand.Int64N(n) }

func (o *Options) setDefaults() {
	o.Timeout = or(o.Timeout, 30*time.Second)
	o.BulkTimeout = or(o.BulkTimeout, 5*time.Minute)
	o.ReadRetries = or(o.ReadRetries, 2)
	o.RetryPause = or(o.RetryPause, 200*time.Millisecond)
	if o.Random == nil {
		o.Random = runtimeRandom{}
	}
	o.BreakerAfter = or(o.BreakerAfter, 5)
	o.BreakerPause = or(o.BreakerPause, 15*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Client calls one planning project. It is safe for concurrent use.
type Client struct {
	opts    Options
	base    string // of the project's endpoints, without a slash at the end
	http    *http.Client
	secret  atomic.Pointer[string]
	breaker *gobreaker.CircuitBreaker[[]byte]
	answers answers
}

// New makes the client of one project. It sends nothing. An error concerns the options.
func New(o Options) (*Client, error) {
	base, err := baseURL(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("planning: base URL: %w", err)
	}
	if o.Project == "" {
		return nil, errors.New("planning: no project")
	}
	if strings.TrimSpace(o.Secret) == "" {
		return nil, fmt.Errorf("planning: project %s: no secret", o.Project)
	}
	o.setDefaults()
	c := &Client{opts: o, base: base + "/api/projects/" + url.PathEscape(string(o.Project))}
	c.SetSecret(o.Secret)
	c.http = httpClient(o.HTTPClient)
	c.breaker = gobreaker.NewCircuitBreaker[[]byte](gobreaker.Settings{
		Name:         string(o.Project),
		Timeout:      o.BreakerPause,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return int(n.ConsecutiveFailures) >= o.BreakerAfter },
		IsSuccessful: func(err error) bool { return !isOutage(err) },
		IsExcluded:   func(err error) bool { return errors.Is(err, errCallerLeft) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			switch {
			case to == gobreaker.StateOpen && from == gobreaker.StateClosed:
				o.Logger.Warn("planning does not answer: what needs it waits", "fact", factlog.Away)
			case to == gobreaker.StateClosed:
				o.Logger.Info("planning answers again", "over", factlog.Away)
			}
		},
	})
	return c, nil
}

// baseURL checks the address of the service and cuts the slash at its end. It refuses http except
// on loopback, as the secret must not cross a network in the clear.
func baseURL(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", errors.New("not a URL") // the parser's error quotes the URL, and with it a password
	case u.User != nil:
		return "", errors.New("must not carry a user or password")
	case u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("want scheme, host and at most a path")
	case u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())):
		return "", errors.New("want https (http only for a loopback host)")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// httpClient copies the given client, or makes one, with followRedirect as its rule.
func httpClient(given *http.Client) *http.Client {
	hc := http.Client{}
	if given != nil {
		hc = *given
	}
	if hc.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		// A project's workers all call one host. Connections that are not kept open would be
		// opened again for each request.
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 128
		hc.Transport = t
	}
	hc.CheckRedirect = followRedirect
	return &hc
}

// followRedirect follows a read on its own host, a few times. Any other redirect is returned as
// the answer. Neither the secret nor a write thus goes to an address that nobody configured.
func followRedirect(next *http.Request, via []*http.Request) error {
	from := via[0]
	if from.Method != http.MethodGet || len(via) > 3 ||
		next.URL.Scheme != from.URL.Scheme || next.URL.Host != from.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// SetSecret replaces the project's secret for requests that start later.
func (c *Client) SetSecret(secret string) {
	secret = strings.TrimSpace(secret)
	c.secret.Store(&secret)
}

// Close closes idle connections. The client stays usable.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// State is the state of the circuit breaker: "closed" (all is well), "open", or "half-open" (the
// next request tries).
func (c *Client) State() string { return c.breaker.State().String() }

// Down reports whether the service is known to be away: the circuit breaker is not closed, and
// [Client.Probe] must find out when it is back.
func (c *Client) Down() bool { return c.breaker.State() != gobreaker.StateClosed }
