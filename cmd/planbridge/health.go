package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"planbridge/config"
)

// healthTimeout is shorter than what a container's probe usually waits.
const healthTimeout = 5 * time.Second

type healthCmd struct {
	Ready bool `help:"Ask whether deliveries can be taken, not only whether the process lives."`
}

// Run implements the command. It never looks at the store: a service that does
// not answer is not well, whoever holds its store.
func (c *healthCmd) Run(ctx context.Context, p *process) error {
	cfg, err := config.LoadClient(p.config, p.env)
	if err != nil {
		return misuse{err}
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	api, path := newClient(cfg), "/healthz"
	if c.Ready {
		path = "/readyz"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, api.base+path, nil)
	if err != nil {
		return err
	}
	resp, err := api.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	words, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	text := strings.TrimSpace(string(words))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", resp.Status, text)
	}
	_, err = fmt.Fprintln(p.stdout, text)
	return err
}
