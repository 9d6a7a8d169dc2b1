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

// healthTimeout is shorter than the usual wait of a container's probe.
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
	code, text, err := api.probe(ctx, path)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	if code != http.StatusOK {
		return fmt.Errorf("%d %s: %s", code, http.StatusText(code), text)
	}
	_, err = fmt.Fprintln(p.stdout, text)
	return err
}

// probe asks a path that answers with a text, and returns the status and the text.
func (c *client) probe(ctx context.Context, path string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	words, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	return resp.StatusCode, strings.TrimSpace(string(words)), err
}

// Unready implements [open.Running].
func (c *client) Unready(ctx context.Context) (string, error) {
	code, text, err := c.probe(ctx, "/readyz")
	switch {
	case err != nil:
		return "", err
	case code == http.StatusServiceUnavailable:
		return text, nil
	case code != http.StatusOK:
		return "", fmt.Errorf("%s answers %d %s: is that planbridge?", c.base, code, http.StatusText(code))
	}
	return "", nil
}
