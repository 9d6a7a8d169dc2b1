package randomtest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// Imports in the random run: in a seed of three operators call planbridge import now and then,
// while bridges are killed under it. They interrupt it, kill it, and call it twice. It runs in a
// bridge, or, where none runs, is one.

func importSeed(seed uint64) bool { return seed%3 == 0 }

// operators import.
type operators struct {
	// Each import picks its request from these; states is empty where nobody ever imports.
	states, matches []string
	turn            *turn    // of a run in virtual time
	log             *os.File // of one that is not

	begin   sync.Mutex // held while an import begins, or a bridge on a file
	running sync.WaitGroup
	done    takenIn
	now     []*exec.Cmd
}

// newOperators draws the habits of those of a seed.
func newOperators(r *rand.Rand) *operators {
	choose := func(of ...[]string) []string { return of[r.IntN(len(of))] }
	open, all := mapping.ImportOpen, mapping.ImportAll
	return &operators{
		states:  choose(nil, []string{open}, []string{open}, []string{all}, []string{all}, []string{open, all}),
		matches: choose([]string{""}, []string{"title"}, []string{"title"}, []string{"", "title"}),
	}
}

// matching reports whether every import looks for partners.
func (m *operators) matching() bool { return !slices.Contains(m.matches, "") }

// draw picks what one asks for.
func (m *operators) draw(r *rand.Rand) status.ImportAsk {
	return status.ImportAsk{Route: bridgetest.RepoName, State: m.states[r.IntN(len(m.states))], Match: m.matches[r.IntN(len(m.matches))]}
}

// command prepares an import by one of the bridges' configurations.
func (c *chaos) command(r *rand.Rand) (cmd *exec.Cmd, state string) {
	m := c.imports
	p := c.bridges[r.IntN(len(c.bridges))].(*bridgetest.Process)
	ask := m.draw(r)
	args := []string{"import", "--route", ask.Route, "--state", ask.State}
	if ask.Match != "" {
		args = append(args, "--match", ask.Match)
	}
	c.people.did(nil, "operator: %s", strings.Join(args, " "))
	m.done.begins(ask.State)
	return p.Command(m.log, args...), ask.State
}

// beginImport begins an import that is interrupted or killed after a while, if
// it has not ended by then. Most are called in the name of somebody impatient.
func (c *chaos) beginImport(r *rand.Rand) {
	m := c.imports
	if m == nil || len(m.states) == 0 {
		return
	}
	if c.sim != nil {
		_, _, _ = c.askImport(c.t.Context(), m.draw(r)) // nobody waits for it
		return
	}
	m.begin.Lock()
	defer m.begin.Unlock()
	cmd, _ := c.command(r)
	if err := cmd.Start(); err != nil {
		c.t.Error(err)
		return
	}
	m.now = append(m.now, cmd)
	how := []os.Signal{syscall.SIGINT, syscall.SIGKILL}[r.IntN(2)]
	end := time.AfterFunc(time.Duration(r.Int64N(int64(6*time.Second))), func() {
		cmd.Process.Signal(how) //nolint:errcheck // it may have ended by itself
	})
	m.running.Go(func() {
		defer end.Stop()
		var exit *exec.ExitError
		if err := cmd.Wait(); errors.As(err, &exit) && exit.ExitCode() > 1 {
			c.t.Errorf("%v ended: %v", cmd.Args, err)
		}
	})
}

// importing lets operators import now and then, sometimes twice at once.
func (c *chaos) importing(ctx context.Context) {
	r := rand.New(rand.NewPCG(c.seed, 9))
	if c.imports != nil && c.sim != nil {
		r = c.imports.turn.Rand
	}
	for pause(ctx, r, 200*time.Millisecond, 4*time.Second) {
		for range 1 + r.IntN(2) {
			c.beginImport(r)
		}
	}
}

// endImports ends the imports that are under way.
func (c *chaos) endImports() {
	m := c.imports
	if m == nil {
		return
	}
	for _, cmd := range m.now {
		cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
	}
	m.running.Wait()
	m.now = nil
}

// up starts a bridge. Its store may be a file, which an import can have that found no bridge. That
// import ends first, and no other begins before the bridge is up.
func (c *chaos) up(p runner) error {
	if c.imports == nil || c.redis != nil || c.sim != nil || p.Running() {
		return p.Start()
	}
	c.imports.begin.Lock()
	defer c.imports.begin.Unlock()
	c.endImports()
	if err := p.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), bridgetest.Patience)
	defer cancel()
	return answers(ctx, p)
}

// answers waits until a bridge answers.
func answers(ctx context.Context, p runner) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := p.Queues(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("a bridge does not answer: %w", err)
		}
	}
}

// lastImport is one that has nothing in its way, if there was any before: it has
// to end.
func (c *chaos) lastImport() []complaint {
	m := c.imports
	if m == nil || m.done.begun == "" {
		return nil
	}
	c.endImports()
	ctx, cancel := context.WithTimeout(c.t.Context(), c.patience(restWithin))
	defer cancel()
	for _, p := range c.bridges {
		if err := answers(ctx, p); err != nil {
			return []complaint{{what: err.Error()}}
		}
	}
	if c.public != nil {
		time.Sleep(visibilityAge + time.Second) // virtual: then the bridges know that the repository is private
	}
	c.idle(ctx) // failures are taken up again
	if c.sim != nil {
		return c.lastAsked(ctx)
	}
	ready, state := c.command(rand.New(rand.NewPCG(c.seed, 10)))
	cmd := exec.CommandContext(ctx, ready.Path, ready.Args[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = ready.Env, ready.Stdout, ready.Stderr
	if err := cmd.Run(); err != nil {
		return []complaint{{what: fmt.Sprintf("the import does not end well: %v", err)}}
	}
	m.done.ends(state)
	c.people.did(nil, "operator: the import is done")
	return nil
}

// beforehand imports, in half of the seeds on Redis, before people come, and
// loses the store meanwhile; sometimes a bridge is killed as well. Nothing
// lies then: to a bridge that did not see the cards before, they would not be
// there.
func (c *chaos) beforehand() []complaint {
	r := rand.New(rand.NewPCG(c.seed, 11))
	if c.imports == nil || c.redis == nil || len(c.imports.states) == 0 || r.IntN(2) == 0 {
		return nil
	}
	c.beginImport(r)
	pause(c.t.Context(), r, 100*time.Millisecond, 1500*time.Millisecond)
	p := c.bridges[r.IntN(len(c.bridges))]
	kill := r.IntN(3) // 0: nobody
	if kill == 1 {
		p.Kill()
	}
	c.people.did(nil, "operator: loses the store (0 no kill, 1 before, 2 after: %d)", kill)
	c.redis.Flush()
	if kill == 2 {
		p.Kill()
	}
	if err := p.Start(); err != nil {
		c.t.Error(err)
	}
	if complaints := c.lastImport(); len(complaints) > 0 {
		return complaints
	}
	polls := c.Planning.Calls(planningtest.OpBacklogItems) + bridgetest.QuietPolls
	ctx, cancel := context.WithTimeout(c.t.Context(), bridgetest.Patience)
	defer cancel()
	if err := c.Planning.Wait(ctx, func(s *planningtest.Server) bool { return s.Calls(planningtest.OpBacklogItems) > polls }); err != nil {
		return []complaint{{what: err.Error()}}
	}
	return c.settle()
}
