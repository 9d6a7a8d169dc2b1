//go:build bench

package benchtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
)

// manyItems are options of a world with very many items, in which only the measured work goes on.
// Neither brakes nor GitHub's hourly limit slow it, as it would last a day with them. The budget of
// writes is 10,000 a minute, the most that a configuration may say.
func manyItems() bridgetest.Options {
	return bridgetest.Options{
		Poll: 5 * time.Second, CatchUp: 20 * time.Second, Settle: 30 * time.Second,
		GitHub: githubtest.Options{Traits: githubtest.Traits{RateLimit: 1 << 30}},
		Config: func(yaml string) string {
			yaml = strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: 1h", 1)
			return yaml + "brakes: {creates_per_minute: 100000}\n"
		},
	}
}

// usualLease is what a process has that is not made to be killed.
const usualLease = "1m"

// imported is a world of so many issues that an import made cards of.
func imported(t *testing.T, n int) *bridgetest.TestWorld {
	t.Helper()
	o := manyItems()
	o.Poll, o.CatchUp, o.Settle = time.Second, 4*time.Second, 20*time.Second
	w, now := bridgetest.StartPast(t, o)
	w.OpenMany(n)
	now()
	w.Planning.ResetJournal()
	job := w.FinishJob(w.BeginImport(status.ImportAsk{}))
	if r := job.Import; r.Cards != n || r.Failed+r.Dropped > 0 {
		t.Errorf("job %+v, %+v", job, r)
	}
	return w
}

// measureImport imports up to twenty thousand issues. The bridge has a process of its own, so that
// its memory is separate from the simulators'. The largest two are both more than what the process
// remembers of GitHub's answers is bound to.
func measureImport(n *numbers) {
	sizes := []int{max(n.scaled(1000), 100), max(n.scaled(10_000), 1000), max(n.scaled(20_000), 2000)}
	most := make([]float64, len(sizes))
	for i, issues := range sizes {
		n.t.Run(fmt.Sprint("issues=", issues), func(t *testing.T) {
			part := numbers{t: t, size: n.size}
			most[i] = part.importAll(issues)
			n.Rows, n.Raw = append(n.Rows, part.Rows...), append(n.Raw, part.Raw...)
		})
	}
	for i := 1; i < len(sizes); i++ {
		n.shown("… more memory of the process per issue of the %s further ones", strconv.Itoa(sizes[i]-sizes[i-1]),
			fmt.Sprintf("%.2g KB", (most[i]-most[i-1])*1000/float64(sizes[i]-sizes[i-1])))
	}
}

// importAll returns the most memory of its own, in MB, that the process had.
func (n *numbers) importAll(issues int) float64 {
	w, now := bridgetest.StartPast(n.t, manyItems())
	w.OpenMany(issues)
	now()
	if err := w.StopBridge(); err != nil {
		n.t.Fatal(err)
	}
	p, err := bridgetest.NewProcess(w.World, n.t.TempDir(), "import")
	if err == nil {
		p.Lease = usualLease
		err = p.Start()
	}
	if err != nil {
		n.t.Fatal(err)
	}
	defer p.Kill()
	w.Planning.ResetJournal()
	w.AwaitWithin("the first polls", bridgetest.Patience, func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) >= 2 })
	w.Planning.ResetJournal()
	w.GitHub.ResetJournal()
	peak := watchMemory(p)
	began := time.Now()
	cmd := exec.CommandContext(n.t.Context(), p.Binary, "--config", p.Config, "import")
	cmd.Env = p.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("import: %v\n%s", err, out)
	}
	took, spent := time.Since(began).Seconds(), timeUsedBy(p)
	most := peak()
	at := strconv.Itoa(issues)
	row := "import of " + at + " issues"
	n.record(row, "time", took, "s")
	n.record(row, "processor time of the process, per issue", 1000*spent.Seconds()/float64(issues), "ms")
	n.atMost("import of %s issues: planning calls that make cards", at, float64(w.Planning.Calls(planningtest.OpCardCreate)), float64(issues)/100+5)
	n.atMost("… calls that make tasks, per card", at, float64(w.Planning.Calls(planningtest.OpTaskCreate))/float64(issues), 1)
	n.shown("… issues a second", at, fmt.Sprintf("%.0f", float64(issues)/took))
	n.importCalls(w, at, issues)
	if got := len(w.Project.Cards()); got != issues {
		n.t.Errorf("%d cards", got)
	}
	n.shown("… most memory of the process, without the program's and the store's pages", at, fmt.Sprintf("%.0f MB", most))
	n.record(row, "most memory with the program's and the store's pages", memoryOf(p, "VmHWM"), "MB")
	return most
}

// importCalls says what an import asked of both services beyond polls.
func (n *numbers) importCalls(w *bridgetest.TestWorld, at string, issues int) {
	github, planning := w.Counted()
	n.shown("… GitHub calls per issue, without the lists", at, fmt.Sprintf("%.2f", float64(github.Sum(bridgetest.AnyCall))/float64(issues)))
	n.shown("… pages of lists of all issues", at, strconv.Itoa(w.PagesOfAll()))
	listed := 0
	for _, c := range w.GitHub.Journal() {
		if c.Op == "issues.list" && c.Status != 304 {
			listed++
		}
	}
	n.record("import of "+at, "pages of issues, those of the catch-up included", float64(listed), "calls")
	n.t.Logf("import of %s: GitHub %v, planning %v", at, github, planning)
}

// watchMemory samples the memory of a process until the returned function is called. That function
// returns the maximum in MB.
func watchMemory(p *bridgetest.Process) (most func() float64) {
	peak, done := 0.0, make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			peak = max(peak, memoryOf(p, "RssAnon"))
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() float64 {
		close(done)
		watching.Wait()
		return peak
	}
}

// timeUsedBy is what the process has used so far; 0 where the system does
// not tell.
func timeUsedBy(p *bridgetest.Process) time.Duration {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.Cmd.Process.Pid), "stat"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), ") ") // the name may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / 100 // Linux has told it in hundredths of a second for ever
}

// memoryOf is a size in MB from what the system tells of the process; 0 where it
// does not tell.
func memoryOf(p *bridgetest.Process, name string) float64 {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.Cmd.Process.Pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return kb / 1000
		}
	}
	return 0
}
