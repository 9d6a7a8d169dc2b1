package redisstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// inspect refuses a server that may evict links, and warns of one that loses everything at a
// restart. It asks by INFO, which most servers allow where they forbid CONFIG.
func (s *Store) inspect(ctx context.Context) error {
	if cluster, ok := s.rdb.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return s.inspectServer(ctx, c) })
	}
	return s.inspectServer(ctx, s.rdb)
}

func (s *Store) inspectServer(ctx context.Context, c redis.Cmdable) error {
	info, err := c.Info(ctx).Result()
	if err != nil && isNetwork(err) {
		return fmt.Errorf("redis: %w", err)
	}
	if err != nil {
		s.log.Warn("redis does not tell its settings; make sure that maxmemory-policy is noeviction and appendonly is yes", "err", err)
		return nil
	}
	fields := parseInfo(info)
	if policy := fields["maxmemory_policy"]; policy != "" && policy != "noeviction" {
		return fmt.Errorf("maxmemory-policy is %s, set it to noeviction: %w", policy, ErrEviction)
	}
	if fields["aof_enabled"] == "0" {
		s.log.Warn("redis has no append-only file: what was not in its last snapshot is lost when it stops; set appendonly to yes")
	}
	return nil
}

// isNetwork reports a missing answer, as opposed to a refusal or to a server that loads its data.
func isNetwork(err error) bool {
	var answered redis.Error
	var network net.Error
	return !errors.As(err, &answered) || errors.As(err, &network) || redis.HasErrorPrefix(err, "LOADING")
}

func parseInfo(info string) map[string]string {
	fields := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(info)); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
