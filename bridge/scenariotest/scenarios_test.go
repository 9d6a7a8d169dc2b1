package scenariotest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/scenariotest"
	"planbridge/mapping/mappingtest"
	"planbridge/store/redisstore/redistest"
)

// TestScenarios plays scenarios in real time, over loopback sockets. Those that say "stores: both"
// run on Redis, of which the race detector gets a part. Those that TestScenariosInVirtualTime does
// not play run on its own file. With PLANBRIDGE_SCENARIOS=all all run, and each one on a file, too.
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
		if os.Getenv("PLANBRIDGE_SCENARIOS") != "" || isMomentary(name) {
			bolt = append(bolt, name)
		}
	}
	both = drawn(both)
	t.Run("bolt", func(t *testing.T) { scenariotest.Play(t, bolt, scenariotest.Options{}) })
	t.Run("redis", func(t *testing.T) { scenariotest.Play(t, both, scenariotest.Options{Store: redistest.Start(t).URL}) })
}

// momentary are scenarios that hang on how long things take on a machine.
var momentary = map[string]string{
	"policy-newest-planning": "the bridge looks again right after the edit that nobody tells it of",
	"route-left-conflict":    "of two conflicts of one moment none is the first",
}

// TestMoments plays the scenarios of testdata/moments, which hang on moments that only
// virtual time has in its hand.
func TestMoments(t *testing.T) { playVirtually(t, "testdata/moments/*.txtar") }

// TestScenariosInVirtualTime plays the scenarios of TestScenarios on a file store, where nothing
// waits for the operating system. Patience costs no time there, and no load of the machine decides
// the order of sights.
func TestScenariosInVirtualTime(t *testing.T) { playVirtually(t, "testdata/*.txtar") }

// playVirtually plays scenarios that compute while TestScenarios waits.
func playVirtually(t *testing.T, pattern string) {
	t.Parallel()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d scenarios, %v", pattern, len(all), err)
	}
	scenariotest.PlayVirtually(t, slices.DeleteFunc(drawn(all), isMomentary), scenariotest.Options{})
}

// drawn are the scenarios that are played: the race detector gets a part, unless all are asked for.
func drawn(all []string) []string {
	if os.Getenv("PLANBRIDGE_SCENARIOS") != "" {
		return all
	}
	return mappingtest.Drawn(all)
}

func isMomentary(file string) bool { return momentary[scenariotest.Name(file)] != "" }
