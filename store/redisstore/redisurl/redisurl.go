// Package redisurl reads the address of a Redis. Its entry point is [Parse].
package redisurl

import (
	"cmp"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

const want = "redis://[user:password@]host:port[/db] or rediss://…, " +
	"for Sentinel with ?master=NAME, for Cluster with ?cluster=1, each with addr=HOST:PORT for further nodes"

// own are the parameters beside those of go-redis.
var own = []string{"master", "master_name", "cluster", "addr", "sentinel_username", "sentinel_password"}

// Parse reads a URL with the scheme redis or rediss. Its parameters are those of go-redis, and
// these: master=NAME, or master_name=NAME, for Sentinel, and cluster=1 for Cluster. Any number of
// addr=HOST:PORT names further sentinels or nodes. There are sentinel_username and
// sentinel_password, too. wanted is what a bad URL should be, "" for a good one. It shows nothing of
// the URL but a parameter's name, as the URL has a password, and a mistyped one may have it anywhere.
func Parse(text string) (o *redis.UniversalOptions, wanted string) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "redis" && u.Scheme != "rediss" {
		return nil, want
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, want
	}
	plain, err := parseWith(u, q)
	if err != nil {
		return nil, wantedOf(u, q)
	}
	o = &redis.UniversalOptions{
		Addrs: append([]string{plain.Addr}, q["addr"]...), MasterName: cmp.Or(q.Get("master"), q.Get("master_name")), IsClusterMode: q.Get("cluster") == "1",
		Username: plain.Username, Password: plain.Password, DB: plain.DB, TLSConfig: plain.TLSConfig, ClientName: plain.ClientName,
		SentinelUsername: q.Get("sentinel_username"), SentinelPassword: q.Get("sentinel_password"),
		PoolSize: plain.PoolSize, MinIdleConns: plain.MinIdleConns,
	}
	if !slices.Contains([]string{"", "0", "1"}, q.Get("cluster")) || o.IsClusterMode && (o.MasterName != "" || o.DB != 0) || o.DB < 0 ||
		len(o.Addrs) > 1 && o.MasterName == "" && !o.IsClusterMode || slices.ContainsFunc(q["addr"], isNoAddr) {
		return nil, want
	}
	return o, ""
}

// parseWith parses u with these parameters, of which go-redis does not see the own ones.
func parseWith(u *url.URL, q url.Values) (*redis.Options, error) {
	theirs := url.Values{}
	for name, values := range q {
		if !slices.Contains(own, name) {
			theirs[name] = values
		}
	}
	with := *u
	with.RawQuery = theirs.Encode()
	return redis.ParseURL(with.String())
}

func isNoAddr(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	return err != nil || host == "" || port == ""
}

// parameterName is the form of all known names.
var parameterName = regexp.MustCompile(`^[a-z0-9_]{1,40}$`)

// wantedOf names the parameter for which go-redis refuses a URL. An @ behind the ? may be that
// before the host, and what is between them a part of the password.
func wantedOf(u *url.URL, q url.Values) string {
	if _, err := parseWith(u, nil); err != nil || strings.Contains(u.RawQuery, "@") {
		return want
	}
	var names []string
	for name := range q {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch _, err := parseWith(u, url.Values{name: q[name]}); {
		case err == nil:
		case !parameterName.MatchString(name):
			return want
		case strings.Contains(err.Error(), "unexpected option"):
			return "no parameter " + name
		default:
			return "another value of the parameter " + name
		}
	}
	return want
}
