package bridgetest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/store/redisstore/redistest"
)

// faultyBinary is cmd/planbridge with testdata/fault laid over it: working one issue
// ends the process, or spins for ever.
var faultyBinary = sync.OnceValues(func() (string, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return "", err
	}
	serve := filepath.Join(root, "cmd", "planbridge", "serve.go")
	source, err := os.ReadFile(serve)
	if err != nil {
		return "", err
	}
	faulty := strings.Replace(string(source), "bridge.New(", "newFaulty(", 1)
	if faulty == string(source) {
		return "", fmt.Errorf("%s makes no bridge", serve)
	}
	over, list := filepath.Join(bridgetest.Built(), "serve.go"), filepath.Join(bridgetest.Built(), "overlay.json")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		serve: over,
		filepath.Join(root, "cmd", "planbridge", "fault.go"): filepath.Join(root, "bridge", "bridgetest", "testdata", "fault", "fault.go"),
	}})
	if err != nil {
		return "", err
	}
	for name, data := range map[string][]byte{over: []byte(faulty), list: overlay} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return "", err
		}
	}
	path := filepath.Join(bridgetest.Built(), "planbridge-faulty")
	args := append([]string{"build", "-overlay", list, "-o", path}, bridgetest.RaceFlags...)
	if out, err := exec.Command("go", append(args, "planbridge/cmd/planbridge")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the faulty bridge: %w\n%s", err, out)
	}
	return path, nil
})

// faultyProcess prepares a process of a world for which issue 2 has a fault.
func faultyProcess(w *world, name, fault string) *bridgetest.Process {
	w.T.Helper()
	p, err := bridgetest.NewProcess(w.World, w.T.TempDir(), name)
	if err == nil {
		p.Binary, err = faultyBinary()
	}
	if err != nil {
		w.T.Fatal(err)
	}
	p.Lease = faultyLease
	p.Env = append(p.Env, "PLANBRIDGE_TEST_FAULT="+fault+" "+bridgetest.RepoName+"#2")
	w.T.Cleanup(p.Kill)
	return p
}

// openWhileItRuns opens issues that enter, since they are newer than the bridge's
// first run.
func (w *world) openWhileItRuns(issues int) {
	w.T.Helper()
	w.Await("the first polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	for n := range issues {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Title ", n+1)})
	}
}

const (
	faultyLease = "5s"
	// maxDeaths is the configured number of attempts.
	maxDeaths = 3
)

func fewAttempts(yaml string) string {
	return strings.Replace(yaml, "max_attempts: 12", fmt.Sprint("max_attempts: ", maxDeaths), 1)
}

// TestAnIssueThatEndsTheProcessIsParked: each time a replica works one issue its
// process ends, and is started again as by an init system. After the configured
// number of claims, all replicas together, the issue is among the failures.
func TestAnIssueThatEndsTheProcessIsParked(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	for name, replicas := range map[string][]string{"file": {"one"}, "redis": {"one", "two"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := bridgetest.Options{Idle: true, Config: fewAttempts}
			if name == "redis" {
				o.Store, o.Prefix = redis.URL, "faulty"
			}
			w := start(t, o)
			died := &deaths{}
			var ps []*bridgetest.Process
			for _, name := range replicas {
				p := faultyProcess(w, name, "exit")
				ps = append(ps, p)
				died.keepUp(w, p)
			}
			const issues = 6
			w.openWhileItRuns(issues)
			w.Await("the other issues' cards", func() bool { return len(w.Project.Cards()) == issues-1 })
			var failures []status.Failure
			w.Await("a failure", func() bool {
				for _, p := range ps {
					if fs, err := p.Failures(t.Context()); err == nil && len(fs) > 0 {
						failures = fs
						return true
					}
				}
				return false
			})
			want := fmt.Sprintf("the process ended %d times while this was worked", maxDeaths)
			if len(failures) != 1 || failures[0].Where != bridgetest.RepoName+"#2" || !strings.Contains(failures[0].Reason, want) || failures[0].Attempts != maxDeaths {
				t.Errorf("failures = %+v, want issue 2 with %q", failures, want)
			}
			if n := died.count(); n != maxDeaths {
				t.Errorf("the processes ended %d times, want %d", n, maxDeaths)
			}
			w.Repo.Open("octocat", githubtest.IssueSpec{Title: "One more"})
			w.Await("the card of a later issue", func() bool { return len(w.Project.Cards()) == issues })
		})
	}
}

// TestMeasuredSignalEndsAProcessThatSpins: SIGTERM ends the process in its time, though a
// worker is in a function that neither ends nor hears.
func TestMeasuredSignalEndsAProcessThatSpins(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{Idle: true})
	p := faultyProcess(w, "spinning", "spin")
	p.Lease = "1m"
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	w.openWhileItRuns(3)
	w.Await("a worker that spins, and the other issues' cards", func() bool {
		log, err := os.ReadFile(p.Log)
		return err == nil && strings.Contains(string(log), "it spins") && len(w.Project.Cards()) == 2
	})
	began := time.Now()
	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := time.AfterFunc(time.Minute, func() { p.Cmd.Process.Kill() }) //nolint:errcheck // it may have ended by itself
	err := p.Cmd.Wait()
	ended.Stop()
	took := time.Since(began)
	p.Cmd = nil
	t.Logf("ended after %v: %v", took.Round(10*time.Millisecond), err)
	if took > 15*time.Second || err != nil {
		t.Errorf("the process ended %v after the signal with %v, want 15s and status 0", took, err)
	}
}

// deaths counts how often processes ended by themselves.
type deaths struct {
	mu sync.Mutex
	n  int
}

func (d *deaths) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n
}

// keepUp starts a process whenever it has ended, until the test is over.
func (d *deaths) keepUp(w *world, p *bridgetest.Process) {
	w.T.Helper()
	var mu sync.Mutex // over p.cmd
	over := false
	run := func() *exec.Cmd {
		mu.Lock()
		defer mu.Unlock()
		if p.Cmd = nil; over {
			return nil
		}
		if err := p.Start(); err != nil {
			w.T.Error(err)
		}
		return p.Cmd
	}
	done := make(chan struct{})
	cmd := run()
	go func() {
		defer close(done)
		for ; cmd != nil; cmd = run() {
			var failed *exec.ExitError
			if err := cmd.Wait(); errors.As(err, &failed) && failed.ExitCode() == 3 {
				d.mu.Lock()
				d.n++
				d.mu.Unlock()
			}
		}
	}()
	w.T.Cleanup(func() {
		mu.Lock()
		over = true
		if p.Cmd != nil {
			p.Cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
		}
		mu.Unlock()
		<-done
	})
}
