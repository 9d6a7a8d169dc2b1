package redisstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Incarnation names the running servers. It changes when one restarts or a replica is promoted.
// Either can lose the last writes of a handle that is gone. It is "" where the servers do not
// tell.
func (s *Store) Incarnation(ctx context.Context) (string, error) {
	cluster, ok := s.rdb.(*redis.ClusterClient)
	if !ok {
		return runID(ctx, s.rdb)
	}
	var mu sync.Mutex
	var ids []string
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
		id, err := runID(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, id)
		return err
	})
	slices.Sort(ids)
	return strings.Join(ids, "+"), err
}

func runID(ctx context.Context, c redis.Cmdable) (string, error) {
	info, err := c.Info(ctx, "server").Result()
	if err != nil && isNetwork(err) {
		return "", fmt.Errorf("run id of redis: %w", err)
	}
	if err != nil {
		return "", nil // INFO is not allowed, so that only the scripts' seq shows a loss
	}
	return parseInfo(info)["run_id"], nil
}

// IsSame reports whether two handles use one store, however its address is spelt. It compares the
// servers' own ids. Servers without one are not known to be the same.
func (s *Store) IsSame(ctx context.Context, other *Store) (bool, error) {
	if s.prefix != other.prefix || s.database() != other.database() {
		return false, nil
	}
	mine, err := s.Incarnation(ctx)
	if err != nil || mine == "" {
		return false, err
	}
	others, err := other.Incarnation(ctx)
	return mine == others, err
}

// database is the number of the database; a cluster has only one.
func (s *Store) database() int {
	if c, ok := s.rdb.(*redis.Client); ok {
		return c.Options().DB
	}
	return 0
}
