package redisstore

import (
	"errors"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"planbridge/store/redisstore/redisurl"
)

// parseURL returns the options of a client. Its error does not show the URL.
func parseURL(text string) (*redis.UniversalOptions, error) {
	o, wanted := redisurl.Parse(text)
	if wanted != "" {
		return nil, errors.New("store url: expected " + wanted)
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.MaxRetries = dialTimeout, ioTimeout, ioTimeout, maxRetries
	o.DialerRetries, o.ContextTimeoutEnabled, o.DisableIdentity = 1, true, true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if o.PoolSize == 0 {
		o.PoolSize = defaultPool
	}
	return o, nil
}
