package bridgetest_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/nettest"
	"planbridge/bridge/planningtest"
	"planbridge/store/redisstore/redistest"
)

// TestScenarios plays scenarios in real time, over loopback sockets: on Redis those that say
// "stores: both", and on its own file what TestScenariosInVirtualTime does not play. With
// PLANBRIDGE_SCENARIOS=all it plays each one on a file, too.
//
// Scenarios are testdata/*.txtar. Each file begins with a sentence that
// says what it shows; one line is one act of a person or of fate, or one
// expectation about a side's state:
//
//	world    [idle] [public] [route=@FILE] [routes=@FILE: more of them] [users=YAML] [prefix=/PATH] [former=LOGIN] [members=A,B] [enter-delay=DURATION] [settle=DURATION] [github-behind=DURATION] [labels=YAML]
//	github   what happens there (see github_test.go)
//	planning what happens there (see planning_test.go)
//	services hold: what follows is one moment for the bridge | answer: that moment ends
//	bridge   stop | start: when GitHub's deliveries have met nobody | restart | forget: restart without the store's file
//	         keep: restart, after a copy of the file was made | put-back: restart with that copy
//	         accept repository|account NAME | labels YAML: restart with these labels
//	         what operators ask of it (see scene_bridge_test.go)
//	expect   what is to become true of a side (see expect_test.go)
//	settle   wait until nothing is left to do
//	quiet    five polls pass without a single write
//	polls N  N polls pass
//	judge    what the checker of the random runs says of the whole world (see chaos_check_test.go)
//	text     FILE WORD N: write a file of N times that word, which may have escapes
//
// Issues go by their number, cards by the order in which they were made; task
// N is the first task of card N. Values such as title='Two words' may be
// texts of the file (body=@long.md).
func TestScenarios(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var both, bolt []string
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\n# stores: both\n") {
			both = append(both, name)
		}
		if os.Getenv("PLANBRIDGE_SCENARIOS") != "" || momentary[sceneName(name)] != "" {
			bolt = append(bolt, name)
		}
	}
	t.Run("bolt", func(t *testing.T) { play(t, bolt, "") })
	t.Run("redis", func(t *testing.T) { play(t, both, redistest.Start(t).URL) })
}

// play runs scenarios on the store with that URL; "": each on its own file.
func play(t *testing.T, files []string, store string) {
	testscript.Run(t, scenes(files, store, nil))
}

// scenes is how scenarios are played; network: nil for loopback sockets.
func scenes(files []string, store string, network nettest.Network) testscript.Params {
	var worlds atomic.Int64
	return testscript.Params{
		Files: files,
		Setup: func(env *testscript.Env) error {
			s := &scene{o: bridgetest.Options{Dir: env.WorkDir, Store: store, Network: network}}
			if store != "" {
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
			"world": command((*scene).world), "github": command((*scene).github), "planning": command((*scene).planning),
			"bridge": command((*scene).bridge), "services": command((*scene).services), "expect": command((*scene).expect), "settle": command((*scene).settle),
			"quiet": command((*scene).quiet), "polls": command((*scene).polls), "judge": command((*scene).judge), "text": command((*scene).text),
		},
	}
}

type sceneKey struct{}

// scene is one running scenario.
type scene struct {
	*bridgetest.World
	o     bridgetest.Options
	cards []string // ids, in the order of making, deleted ones included

	sprints []string // ids, in the order of making

	forgotten bool // the store was lost, or went back

	revoked string // the secret that was taken away

	answer func() // ends what is held

	labels string // of the configuration, as YAML; "": the usual ones

	log logText // what the bridge warned of
}

// logText keeps what is logged. It is safe for concurrent use.
type logText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// command makes one of the scene's methods a command of the scripts.
func command(do func(*scene, *line) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		s := ts.Value(sceneKey{}).(*scene)
		l := parse(ts, args)
		if neg {
			ts.Fatalf("there is nothing that may fail")
		}
		if err := do(s, l); err != nil {
			ts.Fatalf("%v%s", err, s.describe())
		}
	}
}

// line is one line of a scenario: words in order, and values by name.
type line struct {
	ts     *testscript.TestScript
	words  []string
	values []value
}

// value is a NAME=VALUE of a line; op is =, ~= (contains), != or !~=.
type value struct{ name, op, text string }

var named = regexp.MustCompile(`(?s)^([a-z][a-z.-]*)(!?~?=)(.*)$`)

func parse(ts *testscript.TestScript, args []string) *line {
	l := &line{ts: ts}
	for _, arg := range args {
		m := named.FindStringSubmatch(arg)
		if m == nil {
			l.words = append(l.words, arg)
			continue
		}
		v := value{m[1], m[2], m[3]}
		if file, ok := strings.CutPrefix(v.text, "@"); ok && strings.Contains(file, ".") {
			v.text = strings.TrimSuffix(ts.ReadFile(file), "\n")
		}
		l.values = append(l.values, v)
	}
	return l
}

// next takes the line's next word, "" where there is none.
func (l *line) next() string {
	if len(l.words) == 0 {
		return ""
	}
	w := l.words[0]
	l.words = l.words[1:]
	return w
}

// number takes the next word as a number.
func (l *line) number() int {
	var n int
	if w := l.next(); w != "" {
		if _, err := fmt.Sscanf(w, "%d", &n); err != nil {
			l.ts.Fatalf("%q: want a number", w)
		}
	}
	return n
}

// flag takes a word from among the rest of the line.
func (l *line) flag(name string) bool {
	for i, w := range l.words {
		if w == name {
			l.words = append(l.words[:i:i], l.words[i+1:]...)
			return true
		}
	}
	return false
}

// get answers a value by its name.
func (l *line) get(name string) (string, bool) {
	for _, v := range l.values {
		if v.name == name {
			return v.text, true
		}
	}
	return "", false
}

// set gives *to the value of that name, where the line has it.
func (l *line) set(name string, to *string) {
	if v, ok := l.get(name); ok {
		*to = v
	}
}

func (l *line) duration(name string) time.Duration {
	v, ok := l.get(name)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(v)
	l.ts.Check(err)
	return d
}

func (l *line) int(name string) (n int) {
	if v, ok := l.get(name); ok {
		_, err := fmt.Sscan(v, &n)
		l.ts.Check(err)
	}
	return n
}

// ensure starts the world that a scenario asks for by its first act.
func (s *scene) ensure() (err error) {
	if s.World == nil {
		s.World, err = bridgetest.Start(s.o)
	}
	return err
}

func (s *scene) world(l *line) error {
	s.o.Idle, s.o.Public, s.o.Members = l.flag("idle"), l.flag("public"), l.logins("members")
	l.set("route", &s.o.Route)
	l.set("prefix", &s.o.Planning.Prefix)
	s.o.EnterDelay, s.o.Settle = l.duration("enter-delay"), l.duration("settle")
	if behind := l.duration("github-behind"); behind != 0 {
		s.o.GitHub.Clock = func() time.Time { return time.Now().Add(-behind) }
	}
	users, more, former := "{octocat: alice}", "", ""
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
		return yaml
	}
	return s.ensure()
}

func (s *scene) services(l *line) error {
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

func (s *scene) settle(*line) error { return s.settled(3) }

func (s *scene) settled(polls int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Settled(ctx, polls); err != nil {
		return fmt.Errorf("never settled: %w", err)
	}
	return nil
}

// quietPolls is how many polls without a write show that no echo is under way.
const quietPolls = 5

// quietTries is how often that is tried: what was put off, as a read that lagged, may
// come due after all had settled, but an echo goes on.
const quietTries = 3

// quiet settles the world and then lets polls pass: it must stay as it is.
func (s *scene) quiet(*line) error {
	var n int
	for range quietTries {
		if err := s.settled(3); err != nil {
			return err
		}
		writes := s.Writes()
		if err := s.pass(quietPolls); err != nil {
			return err
		}
		if n = s.Writes() - writes; n == 0 {
			return nil
		}
	}
	return fmt.Errorf("%d writes after all had settled", n)
}

func (s *scene) polls(l *line) error { return s.pass(l.number()) }

func (s *scene) pass(polls int) error {
	until := s.Planning.Calls(planningtest.OpBacklogItems) + polls
	return s.until(func() bool { return s.Planning.Calls(planningtest.OpBacklogItems) >= until })
}

func (s *scene) until(cond func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.Until(ctx, cond)
}

func (s *scene) text(l *line) error {
	name, word := l.next(), l.next()
	if plain, err := strconv.Unquote(`"` + word + `"`); err == nil {
		word = plain // '\x00'
	}
	return os.WriteFile(l.ts.MkAbs(name), []byte(strings.Repeat(word, l.number())), 0o600)
}

// card answers the id of the card that was made as the nth, "" where there is
// none.
func (s *scene) card(n int) string {
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

// task answers the id of a card's first task, its tracking task.
func (s *scene) task(n int) string {
	if tasks := s.Project.Tasks(s.card(n)); len(tasks) > 0 {
		return tasks[0].ID
	}
	return ""
}

// describe says what the world looks like when a scenario fails.
func (s *scene) describe() string {
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
