package bridgetest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Binary is cmd/planbridge, built once for all runs; PLANBRIDGE_BINARY names
// another one.
var Binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("PLANBRIDGE_BINARY"); path != "" {
		return path, nil
	}
	path := filepath.Join(Built(), "planbridge")
	args := append([]string{"build", "-o", path}, RaceFlags...)
	out, err := exec.Command("go", append(args, "planbridge/cmd/planbridge")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the bridge: %w\n%s", err, out)
	}
	return path, nil
})

// Process is one bridge in a process of its own, which can be killed. Its
// methods are for one goroutine.
type Process struct {
	Door
	Binary, Config, Log string
	Env                 []string
	Listen              string
	Lease               string // "": ShortLease

	Cmd *exec.Cmd
}

// NewProcess prepares a bridge of a world; nothing runs yet.
func NewProcess(w *World, dir, name string) (*Process, error) {
	path, err := Binary()
	if err != nil {
		return nil, err
	}
	p := &Process{Door: Door{Client: AdminClient}, Binary: path, Config: filepath.Join(dir, name+".yaml"), Log: filepath.Join(dir, name+".log"), Env: os.Environ()}
	yaml := w.YAML()
	for _, addr := range []*string{&p.Listen, &p.Admin} {
		if *addr, err = FreeAddr(); err != nil {
			return nil, err
		}
		yaml = strings.Replace(yaml, `"127.0.0.1:0"`, `"`+*addr+`"`, 1)
	}
	for _, name := range []string{"GITHUB_WEBHOOK_SECRET", "GITHUB_TOKEN", "PLANNING_WEB_SECRET", "PLANBRIDGE_MARKER_KEY"} {
		value, _ := w.Env(name)
		p.Env = append(p.Env, name+"="+value)
	}
	return p, os.WriteFile(p.Config, []byte(yaml), 0o600)
}

// ShortLease is short, so that a run does not wait a minute for the keys of a killed process. It
// leaves time for a write (see writing in package reconcile).
const ShortLease = "12s"

// Start starts the process, unless it runs.
func (p *Process) Start() error {
	if p.Cmd != nil {
		return nil
	}
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the process has its own descriptor
	cmd := p.Command(log, "serve")
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the bridge: %w", err)
	}
	p.Cmd = cmd
	return nil
}

// Command is another process with this bridge's configuration.
func (p *Process) Command(log *os.File, args ...string) *exec.Cmd {
	args = append([]string{"--config", p.Config}, args...)
	cmd := exec.Command(p.Binary, append(args, "--lease", cmp.Or(p.Lease, ShortLease))...)
	cmd.Env, cmd.Stderr, cmd.Stdout = p.Env, log, log
	return cmd
}

// Kill ends the process as a crash would.
func (p *Process) Kill() {
	if p.Cmd != nil {
		p.Cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
		p.Cmd.Wait()         //nolint:errcheck // it was killed
		p.Cmd = nil
	}
}

// EndsWithin is longer than the bound of serve itself.
const EndsWithin = 20 * time.Second

// Stop ends the process in good order; it is an error when it does not end, or
// not with status 0.
func (p *Process) Stop() error {
	if p.Cmd == nil {
		return nil
	}
	cmd := p.Cmd
	p.Cmd = nil
	ended := time.AfterFunc(EndsWithin, func() { cmd.Process.Kill() }) //nolint:errcheck // see Kill
	defer ended.Stop()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the bridge: %w", err)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("the bridge ended: %w", err)
	}
	return nil
}

// BadLines returns the forbidden lines of a log.
func BadLines(path string) ([]string, error) {
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

// Running reports whether the process was started and not ended.
func (p *Process) Running() bool { return p.Cmd != nil }

// Logs is the file with the process's log.
func (p *Process) Logs() string { return p.Log }

// Webhooks is where the process takes deliveries.
func (p *Process) Webhooks() string { return "http://" + p.Listen + "/webhooks/github" }
