package redisstore

import (
	"errors"
	"net/url"
	"slices"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// errURL does not show the refused URL, as a URL has a password, and a mistyped one may have it
// anywhere.
var errURL = errors.New("store url: want redis://[user:password@]host:port[/db] or rediss://…, " +
	"for Sentinel with ?master=NAME, for Cluster with ?cluster=1, each with addr=HOST:PORT for further nodes")

func parseURL(text string) (*redis.UniversalOptions, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "redis" && u.Scheme != "rediss" {
		return nil, errURL
	}
	q := u.Query()
	master, cluster, addrs := q.Get("master"), q.Get("cluster"), q["addr"]
	sentinelUser, sentinelPassword := q.Get("sentinel_username"), q.Get("sentinel_password")
	for _, own := range []string{"master", "cluster", "addr", "sentinel_username", "sentinel_password"} {
		q.Del(own)
	}
	u.RawQuery = q.Encode()
	o, err := redis.ParseURL(u.String())
	if err != nil || !slices.Contains([]string{"", "0", "1"}, cluster) || cluster == "1" && (master != "" || o.DB != 0) {
		return nil, errURL
	}
	opt := &redis.UniversalOptions{
		Addrs: append([]string{o.Addr}, addrs...), MasterName: master, IsClusterMode: cluster == "1",
		Username: o.Username, Password: o.Password, DB: o.DB, TLSConfig: o.TLSConfig, ClientName: o.ClientName,
		SentinelUsername: sentinelUser, SentinelPassword: sentinelPassword,
		PoolSize: o.PoolSize, MinIdleConns: o.MinIdleConns,
		DialTimeout: dialTimeout, ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, MaxRetries: maxRetries,
		DialerRetries: 1, ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if len(opt.Addrs) > 1 && master == "" && !opt.IsClusterMode {
		return nil, errURL
	}
	if opt.PoolSize == 0 {
		opt.PoolSize = defaultPool
	}
	return opt, nil
}
