package bridgetest_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/status"
)

// binary is cmd/planbridge, built once for all runs; PLANBRIDGE_BINARY names
// another one.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("PLANBRIDGE_BINARY"); path != "" {
		return path, nil
	}
	path := filepath.Join(built, "planbridge")
	args := append([]string{"build", "-o", path}, raceFlags...)
	out, err := exec.Command("go", append(args, "planbridge/cmd/planbridge")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the bridge: %w\n%s", err, out)
	}
	return path, nil
})

// runner is one bridge of a random run. Its methods are for one goroutine.
type runner interface {
	start() error // of one that runs: does nothing
	stop() error  // in good order
	kill()        // as a crash would
	running() bool
	webhooks() string // where it takes deliveries
	logs() string     // the file with all it logged
	queues(ctx context.Context) (status.Overview, error)
	failures(ctx context.Context) ([]status.Failure, error)
	waits(ctx context.Context) ([]status.Standing, error)
	retryAll(ctx context.Context) error
}

// process is one bridge in a process of its own, which can be killed. Its
// methods are for one goroutine.
type process struct {
	door
	binary, config, log string
	env                 []string
	listen              string
	lease               string // "": lease

	cmd *exec.Cmd
}

// newProcess prepares a bridge of a world; nothing runs yet.
func newProcess(w *bridgetest.World, dir, name string) (*process, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	p := &process{door: door{client: admin}, binary: path, config: filepath.Join(dir, name+".yaml"), log: filepath.Join(dir, name+".log"), env: os.Environ()}
	yaml := w.YAML()
	for _, addr := range []*string{&p.listen, &p.admin} {
		if *addr, err = bridgetest.FreeAddr(); err != nil {
			return nil, err
		}
		yaml = strings.Replace(yaml, `"127.0.0.1:0"`, `"`+*addr+`"`, 1)
	}
	for _, name := range []string{"GITHUB_WEBHOOK_SECRET", "GITHUB_TOKEN", "PLANNING_WEB_SECRET", "PLANBRIDGE_MARKER_KEY"} {
		value, _ := w.Env(name)
		p.env = append(p.env, name+"="+value)
	}
	return p, os.WriteFile(p.config, []byte(yaml), 0o600)
}

// lease is short, so that a run need not wait a minute for what a killed
// process had in hand; it leaves time for a write (see work.writing).
const lease = "12s"

func (p *process) start() error {
	if p.cmd != nil {
		return nil
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the process has its own descriptor
	cmd := p.command(log, "serve")
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the bridge: %w", err)
	}
	p.cmd = cmd
	return nil
}

// command is another process with this bridge's configuration.
func (p *process) command(log *os.File, args ...string) *exec.Cmd {
	args = append([]string{"--config", p.config}, args...)
	cmd := exec.Command(p.binary, append(args, "--lease", cmp.Or(p.lease, lease))...)
	cmd.Env, cmd.Stderr, cmd.Stdout = p.env, log, log
	return cmd
}

// kill ends the process as a crash would.
func (p *process) kill() {
	if p.cmd != nil {
		p.cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
		p.cmd.Wait()         //nolint:errcheck // it was killed
		p.cmd = nil
	}
}

// stopWait is beyond what serve allows itself.
const stopWait = 20 * time.Second

// stop ends the process in good order; it is an error when it does not end, or
// not with status 0.
func (p *process) stop() error {
	if p.cmd == nil {
		return nil
	}
	cmd := p.cmd
	p.cmd = nil
	ended := time.AfterFunc(stopWait, func() { cmd.Process.Kill() }) //nolint:errcheck // see kill
	defer ended.Stop()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the bridge: %w", err)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("the bridge ended: %w", err)
	}
	return nil
}

// badLines returns the lines of a log that no run may have.
func badLines(path string) ([]string, error) {
	log, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE") || strings.Contains(line, "fatal error") || strings.Contains(line, `"invariant broken"`) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out, nil
}

func (p *process) running() bool    { return p.cmd != nil }
func (p *process) logs() string     { return p.log }
func (p *process) webhooks() string { return "http://" + p.listen + "/webhooks/github" }

// admin is a client that keeps no connection to a process that may be killed.
var admin = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// door is a bridge's admin listener.
type door struct {
	client *http.Client
	admin  string // host and port
}

// queues asks the bridge for its store's queues.
func (p *door) queues(ctx context.Context) (status.Overview, error) {
	var out status.Overview
	return out, p.ask(ctx, http.MethodGet, "/api/v1/overview", nil, &out)
}

// failures asks the bridge for the parked keys.
func (p *door) failures(ctx context.Context) ([]status.Failure, error) {
	var out struct {
		Failures []status.Failure `json:"failures"`
	}
	err := p.ask(ctx, http.MethodGet, "/api/v1/failures", nil, &out)
	return out.Failures, err
}

// waits asks the bridge for the keys that are in the queue and not due.
func (p *door) waits(ctx context.Context) ([]status.Standing, error) {
	var out status.Queue
	err := p.ask(ctx, http.MethodGet, "/api/v1/queue?limit=1000", nil, &out)
	return out.Keys, err
}

// retryAll does what an operator does when the faults are over.
func (p *door) retryAll(ctx context.Context) error {
	return p.ask(ctx, http.MethodPost, "/api/v1/failures/retry", []byte(`{"key":"all"}`), nil)
}

func (p *door) ask(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+p.admin+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
