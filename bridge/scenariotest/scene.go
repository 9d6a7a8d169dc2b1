// Package scenariotest plays scenarios: people act on both sides, faults befall the services,
// and the end states are compared.
//
// Scenarios are txtar files, those of this package in testdata. Each file begins with a sentence that
// says what it shows. One line is one act of a person or of fate, or one expectation about a side's
// state:
//
//	world    [idle] [public] [route=@FILE] [routes=@FILE: more of them] [users=YAML] [prefix=/PATH] [former=LOGIN] [members=A,B] [enter-delay=DURATION] [settle=DURATION] [github-behind=DURATION] [labels=YAML] [verify=DURATION]
//	github   what happens there (see github.go)
//	planning what happens there (see planning.go)
//	services hold: what follows is one moment for the bridge | answer: that moment ends
//	bridge   stop | start: when GitHub's deliveries have met nobody | restart | forget: restart without the store's file
//	         keep: restart, after a copy of the file was made | put-back: restart with that copy
//	         accept repository|account NAME | labels YAML: restart with these labels
//	         what operators ask of it (see bridge.go)
//	expect   what is to become true of a side (see expect.go)
//	settle   wait until nothing is left to do
//	quiet    five polls pass without a single write
//	polls N  N polls pass
//	judge    what the checker of the random runs says of the whole world (see package randomtest)
//	text     FILE WORD N: write a file of N times that word, which may have escapes
//
// Issues go by their number, cards by the order in which they were made; task
// N is the first task of card N. After "elsewhere" cards are those of the project to which the
// route leads since bridge move. Values such as title='Two words' may be
// texts of the file (body=@long.md).
package scenariotest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/logtest"
	"planbridge/bridge/nettest"
	"planbridge/bridge/planningtest"
)

// Options say how scenarios are played.
type Options struct {
	Store string             // its URL; "": each scenario has a file of its own
	Judge func(*Scene) error // the check of the command judge; nil: there is no such command
}

// Play plays scenarios in real time, over loopback sockets.
func Play(t *testing.T, files []string, o Options) {
	testscript.Run(t, scenes(files, o, nil))
}

// PlayVirtually plays scenarios in virtual time, each in a test of its own. Nothing waits for the
// operating system.
func PlayVirtually(t *testing.T, files []string, o Options) {
	for _, file := range files {
		t.Run(Name(file), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				testscript.RunT(inline{t}, scenes([]string{file}, o, nettest.NewInProcess()))
			})
		})
	}
}

// Name is the name of the scenario in a file.
func Name(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }

// inline is a test that runs scripts as parts of itself.
type inline struct{ *testing.T }

func (i inline) Run(_ string, f func(testscript.T)) { f(i) }
func (inline) Parallel()                            {}
func (inline) Verbose() bool                        { return testing.Verbose() }

// scenes are the parameters for scenarios; network: nil for loopback sockets.
func scenes(files []string, o Options, network nettest.Network) testscript.Params {
	var worlds atomic.Int64
	return testscript.Params{
		Files: files,
		Setup: func(env *testscript.Env) error {
			s := &Scene{o: bridgetest.Options{Dir: env.WorkDir, Store: o.Store, Network: network}, judges: o.Judge}
			if o.Store != "" {
				s.o.Prefix = fmt.Sprintf("world%d", worlds.Add(1))
			}
			s.o.Logger = slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
			if os.Getenv("PLANBRIDGE_TEST_LOG") != "" {
				s.o.Logger = slog.New(slog.NewTextHandler(io.MultiWriter(os.Stderr, &s.log), &slog.HandlerOptions{Level: slog.LevelDebug}))
			}
			env.Values[sceneKey{}] = s
			env.Defer(func() {
				if s.World == nil {
					return
				}
				if err := s.Close(); err != nil {
					env.T().Fatal(err)
				}
			})
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"world": command((*Scene).world), "github": command((*Scene).github), "planning": command((*Scene).planning),
			"bridge": command((*Scene).bridge), "services": command((*Scene).services), "expect": command((*Scene).expect), "settle": command((*Scene).settle),
			"quiet": command((*Scene).quiet), "polls": command((*Scene).polls), "judge": command((*Scene).judge), "text": command((*Scene).text),
		},
	}
}

type sceneKey struct{}

// Scene is one running scenario.
type Scene struct {
	*bridgetest.World
	o     bridgetest.Options
	cards []string // ids, in the order of making, deleted ones included

	sprints []string // ids, in the order of making

	other      *planningtest.Project // the route's project after its move; nil: it did not move
	otherCards []string              // its cards, as cards

	forgotten bool // the store was lost, or went back

	revoked string // the secret that was taken away

	answer func() // releases the held answers

	labels string // of the configuration, as YAML; "": the usual ones

	log logtest.Text // the bridge's warnings

	judges func(*Scene) error // see Options.Judge
}

// command makes one of the scene's methods a command of the scripts.
func command(do func(*Scene, *line) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		s := ts.Value(sceneKey{}).(*Scene)
		l := parse(ts, args)
		if neg {
			ts.Fatalf("there is nothing that may fail")
		}
		if err := do(s, l); err != nil {
			ts.Fatalf("%v%s", err, s.describe())
		}
	}
}

// ensure starts the scenario's world at its first act.
func (s *Scene) ensure() (err error) {
	if s.World == nil {
		s.World, err = bridgetest.Start(s.o)
	}
	return err
}

func (s *Scene) world(l *line) error {
	s.o.Idle, s.o.Public, s.o.Members = l.flag("idle"), l.flag("public"), l.logins("members")
	l.set("route", &s.o.Route)
	l.set("prefix", &s.o.Planning.Prefix)
	s.o.EnterDelay, s.o.Settle = l.duration("enter-delay"), l.duration("settle")
	if behind := l.duration("github-behind"); behind != 0 {
		s.o.GitHub.Clock = func() time.Time { return time.Now().Add(-behind) }
	}
	users, more, former, verify := "{octocat: alice}", "", "", "0s"
	l.set("verify", &verify)
	l.set("users", &users)
	l.set("former", &former)
	l.set("routes", &more)
	l.set("labels", &s.labels)
	s.o.Config = func(yaml string) string {
		yaml = strings.Replace(yaml, "users: {octocat: alice}", "users: "+users, 1)
		yaml = strings.Replace(yaml, "  token: env:GITHUB_TOKEN\n", "  token: env:GITHUB_TOKEN\n  former_accounts: ["+former+"]\n", 1)
		for line := range strings.Lines(more) {
			yaml += "  " + strings.TrimRight(line, "\n") + "\n"
		}
		if s.labels != "" {
			yaml += "labels: " + s.labels + "\n"
		}
		if verify != "0s" {
			yaml += "verify_interval: " + verify + "\n"
		}
		return s.pointed(yaml)
	}
	return s.ensure()
}

func (s *Scene) services(l *line) error {
	switch what := l.next(); what {
	case "hold":
		if err := s.ensure(); err != nil {
			return err
		}
		s.answer = s.Hold()
	case "answer":
		s.answer()
	default:
		return fmt.Errorf("services %s: want hold or answer", what)
	}
	return nil
}

func (s *Scene) judge(*line) error {
	if s.judges == nil {
		return errors.New("nobody judges these scenarios")
	}
	return s.judges(s)
}

// Route has the scenario's own settings of the route, as YAML.
func (s *Scene) Route() string { return s.o.Route }

// IsStoreLost reports whether the store was lost, or went back to an older state.
func (s *Scene) IsStoreLost() bool { return s.forgotten }

func (s *Scene) settle(*line) error { return s.settled(3) }

func (s *Scene) settled(polls int) error {
	ctx, cancel := context.WithTimeout(context.Background(), bridgetest.Patience)
	defer cancel()
	if err := s.Settled(ctx, polls); err != nil {
		return fmt.Errorf("never settled: %w", err)
	}
	return nil
}

// quietTries is how often that is tried. A key that was put off, as after a read that lagged, may
// come due after all had settled, but an echo goes on.
const quietTries = 3

// quiet settles the world and then lets polls pass, in which nothing may change.
func (s *Scene) quiet(*line) error {
	var n int
	for range quietTries {
		if err := s.settled(3); err != nil {
			return err
		}
		writes := s.Writes()
		if err := s.pass(bridgetest.QuietPolls); err != nil {
			return err
		}
		if n = s.Writes() - writes; n == 0 {
			return nil
		}
	}
	return fmt.Errorf("%d writes after all had settled", n)
}

func (s *Scene) polls(l *line) error { return s.pass(l.number()) }

func (s *Scene) pass(polls int) error {
	until := s.Planning.Calls(planningtest.OpBacklogItems) + polls
	return s.until(func() bool { return s.Planning.Calls(planningtest.OpBacklogItems) >= until })
}

func (s *Scene) until(cond func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), bridgetest.Patience)
	defer cancel()
	return s.Until(ctx, cond)
}

func (s *Scene) text(l *line) error {
	name, word := l.next(), l.next()
	if plain, err := strconv.Unquote(`"` + word + `"`); err == nil {
		word = plain // '\x00'
	}
	return os.WriteFile(l.ts.MkAbs(name), []byte(strings.Repeat(word, l.number())), 0o600)
}

// card returns the id of the nth card by creation, "" where there is none.
func (s *Scene) card(n int) string {
	known := map[string]bool{}
	for _, id := range s.cards {
		known[id] = true
	}
	for _, c := range s.Project.Cards() {
		if !known[c.ID] {
			s.cards = append(s.cards, c.ID)
		}
	}
	if n < 1 || n > len(s.cards) {
		return ""
	}
	return s.cards[n-1]
}

// task returns the id of a card's first task, its tracking task.
func (s *Scene) task(n int) string {
	if tasks := s.Project.Tasks(s.card(n)); len(tasks) > 0 {
		return tasks[0].ID
	}
	return ""
}

// describe describes the world when a scenario fails.
func (s *Scene) describe() string {
	if s.World == nil {
		return ""
	}
	var b strings.Builder
	for _, i := range s.Repo.Issues() {
		fmt.Fprintf(&b, "\nissue %d: %v", i.Number, clipped(issueFacts(i)))
	}
	for n := range s.Project.Cards() {
		fmt.Fprintf(&b, "\ncard %d: %v", n+1, clipped(s.cardFacts(n+1)))
	}
	if s.App != nil {
		fmt.Fprintf(&b, "\nworld: %v", s.worldFacts())
	}
	return b.String()
}

func clipped(f facts) facts {
	for k, v := range f {
		if len(v) > 300 {
			f[k] = v[:300] + "…"
		}
	}
	return f
}
