package bridgetest_test

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/testscript"

	"planbridge/bridge/nettest"
)

// momentary are scenarios that hang on how long things take on a machine.
var momentary = map[string]string{
	"policy-newest-planning": "the bridge looks again right after the edit that nobody tells it of",
	"route-left-conflict":    "of two conflicts of one moment none is the first",
}

// TestMoments plays the scenarios of testdata/moments, which hang on moments that only
// virtual time has in its hand.
func TestMoments(t *testing.T) { playVirtually(t, "testdata/moments/*.txtar") }

// TestScenariosInVirtualTime plays the scenarios of TestScenarios on a file store, where
// nothing waits for the operating system: what takes patience there takes none here, and no
// load of the machine decides what is seen first.
func TestScenariosInVirtualTime(t *testing.T) { playVirtually(t, "testdata/*.txtar") }

func playVirtually(t *testing.T, pattern string) {
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d scenarios, %v", pattern, len(all), err)
	}
	for _, file := range all {
		name := sceneName(file)
		if momentary[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				testscript.RunT(inline{t}, scenes([]string{file}, "", nettest.NewInProcess()))
			})
		})
	}
}

func sceneName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }

// inline is a test that runs scripts as parts of itself.
type inline struct{ *testing.T }

func (i inline) Run(_ string, f func(testscript.T)) { f(i) }
func (inline) Parallel()                            {}
func (inline) Verbose() bool                        { return testing.Verbose() }
