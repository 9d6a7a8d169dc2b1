package randomtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestShrink reduces a failing seed of the random run in virtual time to the necessary turns, and
// writes their story. PLANBRIDGE_SHRINK_SEED is the seed, PLANBRIDGE_SIM_SECONDS as it failed, and
// PLANBRIDGE_SHRINK_FILE where the story goes. PLANBRIDGE_SHRINK_SCENARIO is the name of the
// scenario that is made of it; "": none. Each try is a process of its own, as one that fails may
// end in any way.
func TestShrink(t *testing.T) {
	text := os.Getenv("PLANBRIDGE_SHRINK_SEED")
	if text == "" {
		t.Skip("make shrink SEED=4711 shrinks a seed")
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("PLANBRIDGE_SHRINK_SEED: %v", err)
	}
	s := &shrinker{seed: seed, dir: t.TempDir(), log: t.Logf}
	whole, err := s.play(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Wrong) == 0 {
		t.Fatalf("seed %d does not fail", seed)
	}
	small, err := s.shrink(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PLANBRIDGE_SHRINK_FILE")
	if path == "" {
		path = filepath.Join(os.TempDir(), fmt.Sprintf("planbridge-story-%d.txt", seed))
	}
	if err := os.WriteFile(path, []byte(small.story(seed)), 0o600); err != nil {
		t.Fatal(err)
	}
	if name := os.Getenv("PLANBRIDGE_SHRINK_SCENARIO"); name != "" {
		small.writeScenario(t, seed, name)
	}
	t.Logf("%d of %d turns are left; their story is in %s\n\n%s", len(small.Turns), len(whole.Turns), path, small.story(seed))
}

// outcome is what one run came to.
type outcome struct {
	Turns []string // that were taken, in order
	Route string   // its settings
	Diary []entry
	Wrong []string // the checker's complaints; none: the run passed
}

// report writes the outcome of a run into the file that PLANBRIDGE_SIM_OUTCOME names.
func (c *chaos) report(wrong []complaint) {
	path := os.Getenv("PLANBRIDGE_SIM_OUTCOME")
	if path == "" {
		return
	}
	o := outcome{Turns: c.turns.taken, Route: c.route, Diary: c.people.entries()}
	for _, one := range wrong {
		o.Wrong = append(o.Wrong, one.String())
	}
	text, err := json.Marshal(o)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		c.t.Errorf("report the outcome: %v", err)
	}
}

// particular is what differs between two complaints of one kind: names, numbers, texts.
var particular = regexp.MustCompile(`"[^"]*"|\S*\d\S*`)

// kinds are the complaints without what is particular in them.
func (o *outcome) kinds() (all []string) {
	for _, one := range o.Wrong {
		first, _, _ := strings.Cut(one, "\n")
		all = append(all, particular.ReplaceAllString(first, "…"))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// story tells an outcome for people.
func (o *outcome) story(seed uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Seed %d, and of it these turns: %s.\n\nWhat happened:\n", seed, strings.Join(o.Turns, ", "))
	b.WriteString(told(o.Diary))
	b.WriteString("\nWhat is wrong:\n")
	for _, line := range o.Wrong {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

// shrinker looks for a smaller story of a seed.
type shrinker struct {
	seed  uint64
	dir   string
	log   func(format string, args ...any)
	tries int
}

// play plays the seed without some turns.
func (s *shrinker) play(ctx context.Context, leaveOut []string) (*outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, stillFor)
	defer cancel()
	dir, err := os.MkdirTemp(s.dir, "try")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the whole of s.dir goes at the end
	out, leave := filepath.Join(dir, "outcome"), filepath.Join(dir, "leave-out")
	if err := os.WriteFile(leave, []byte(strings.Join(leaveOut, "\n")), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestSim$")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "PLANBRIDGE_SIM_SEEDS="+strconv.FormatUint(s.seed, 10), "PLANBRIDGE_SIM_OUTCOME="+out, "PLANBRIDGE_SIM_LEAVE_OUT="+leave)
	said, failed := cmd.CombinedOutput()
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("seed %d tells no outcome (%w): %s", s.seed, failed, said)
	}
	o := &outcome{}
	return o, json.Unmarshal(text, o)
}

// shrink leaves out ever smaller parts of the turns for as long as something is wrong
// that was wrong in the whole run.
func (s *shrinker) shrink(ctx context.Context, whole *outcome) (*outcome, error) {
	best, wrong := whole, whole.kinds()
	for part := (len(best.Turns) + 1) / 2; ; part = (part + 1) / 2 {
		for smaller := true; smaller; {
			next, err := s.round(ctx, whole.Turns, best, wrong, part)
			if err != nil {
				return nil, err
			}
			smaller = next != nil && part == 1
			if next != nil {
				best = next
			}
		}
		s.log("%d turns after %d tries without %d at a time", len(best.Turns), s.tries, part)
		if part == 1 {
			return best, nil
		}
	}
}

// round leaves each part of that size out in turn, as many at a time as there are processors. It
// returns the smallest story that it found; nil: none is smaller.
func (s *shrinker) round(ctx context.Context, all []string, from *outcome, wrong []string, part int) (*outcome, error) {
	var found *outcome
	best := from
	for at := 0; at < len(best.Turns); {
		type try struct {
			o   *outcome
			err error
		}
		var tries []chan try
		for n := range runtime.NumCPU() {
			first := at + n*part
			if first >= len(best.Turns) {
				break
			}
			keep := slices.Concat(best.Turns[:first], best.Turns[min(first+part, len(best.Turns)):])
			done := make(chan try, 1)
			tries = append(tries, done)
			go func() {
				o, err := s.play(ctx, without(all, keep))
				done <- try{o, err}
			}()
		}
		s.tries += len(tries)
		took := -1
		for n, done := range tries {
			one := <-done
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case one.err != nil: // as a run that does not end: another fault than the one that is looked for
			case took < 0 && slices.ContainsFunc(one.o.kinds(), func(k string) bool { return slices.Contains(wrong, k) }) && len(one.o.Turns) < len(best.Turns):
				took, found = n, one.o
			}
		}
		if took < 0 {
			at += len(tries) * part
			continue
		}
		best, at = found, at+took*part
	}
	return found, nil
}

// TestTurnsAreTheirOwn: a turn is the same where others are left out.
func TestTurnsAreTheirOwn(t *testing.T) {
	write := func(leaveOut ...string) map[string]string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "leave-out")
		if err := os.WriteFile(path, []byte(strings.Join(leaveOut, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PLANBRIDGE_SIM_LEAVE_OUT", path)
		all, err := newTurns(7)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for range 20 {
			for _, kind := range []string{"people", "fate"} {
				if one := all.next(kind); one != nil {
					out[one.name] = fmt.Sprint(one.Uint64(), one.word(), one.word())
				}
			}
		}
		if len(out) != len(all.taken) {
			t.Errorf("%d turns of one name each, but %d were taken", len(out), len(all.taken))
		}
		return out
	}
	whole, less := write(), write("people 3", "fate 0", "fate 19")
	if len(whole) != 40 || len(less) != 37 {
		t.Fatalf("%d turns, and %d of them: want 40 and 37", len(whole), len(less))
	}
	words := map[string]string{}
	for name, did := range less {
		if whole[name] != did {
			t.Errorf("turn %s is %s without the others and %s with them", name, did, whole[name])
		}
		for _, word := range strings.Fields(did)[1:] {
			if other, ok := words[word]; ok {
				t.Errorf("turns %s and %s both write %s", name, other, word)
			}
			words[word] = name
		}
	}
}
