package randomtest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

// found says which test misses what is left out; of another package's with its name before it.
var found = map[string]string{
	"unborn seen":     "scenariotest/TestScenariosInVirtualTime/account-unknown-copy",
	"unborn wanted":   "scenariotest/TestScenariosInVirtualTime/account-unknown-lost-answers",
	"unborn found":    "scenariotest/TestScenariosInVirtualTime/account-unknown-store-lost",
	"unborn lineless": "scenariotest/TestScenariosInVirtualTime/list-lost-line",

	"entering begun":        "scenariotest/TestScenariosInVirtualTime/lost-answer-card-create",
	"entering completed":    "reconcile/TestFamilyIsLinkedAgain",
	"creating completed":    "scenariotest/TestScenariosInVirtualTime/account-unknown-copy",
	"creating reconsidered": "reconcile/TestOneCardInAllProjects",

	"linked excluded":   "scenariotest/TestScenariosInVirtualTime/filter-excludes",
	"creating excluded": "scenariotest/TestMoments/before-a-partner",
	"orphaned excluded": "scenariotest/TestMoments/gone-and-left",
	"left readmitted":   "scenariotest/TestScenariosInVirtualTime/filter-leaves",
	"left resumed":      "scenariotest/TestMoments/before-a-partner",

	"linked vanished":     "scenariotest/TestScenariosInVirtualTime/card-deleted-alone",
	"creating vanished":   "reconcile/TestAnIssueThatIsBackBeforeItsCardWasMadeGetsOne",
	"left vanished":       "scenariotest/TestMoments/gone-and-left",
	"orphaned reappeared": "scenariotest/TestScenariosInVirtualTime/card-deleted-alone",
	"orphaned resumed":    "reconcile/TestAnIssueThatIsBackBeforeItsCardWasMadeGetsOne",

	"entering route removed": "scenariotest/TestMoments/route-gone",
	"creating route removed": "scenariotest/TestMoments/route-gone",
	"linked route removed":   "scenariotest/TestMoments/route-gone",
	"left route removed":     "scenariotest/TestMoments/route-gone",
	"orphaned route removed": "scenariotest/TestMoments/route-gone",
	"dormant route back":     "scenariotest/TestMoments/route-gone",

	"entering unlinked": "scenariotest/TestMoments/unlink",
	"creating unlinked": "scenariotest/TestMoments/unlink",
	"linked unlinked":   "scenariotest/TestMoments/unlink",
	"left unlinked":     "scenariotest/TestMoments/unlink",
	"orphaned unlinked": "scenariotest/TestMoments/unlink",
	"dormant unlinked":  "scenariotest/TestMoments/unlink",
	"erased unlinked":   "scenariotest/TestMoments/unlink",
	"dormant relinked":  "scenariotest/TestMoments/link",
	"left relinked":     "scenariotest/TestMoments/link",
	"orphaned relinked": "scenariotest/TestMoments/link",
	"erased relinked":   "scenariotest/TestMoments/link",
	"dormant resumed":   "scenariotest/TestMoments/link",

	"entering erased": "scenariotest/TestMoments/erase",
	"creating erased": "scenariotest/TestMoments/erase",
	"linked erased":   "scenariotest/TestMoments/erase",
	"left erased":     "scenariotest/TestMoments/erase",
	"orphaned erased": "scenariotest/TestMoments/erase",
	"dormant erased":  "scenariotest/TestMoments/erase",
	"erased erased":   "scenariotest/TestMoments/erase",

	// The rules, in their order.
	"hand over":      "reconcile/TestAMoveMeetsEveryFate",
	"reroute":        "bridgetest/TestLinksFollowTheirIssues",
	"route gone":     "scenariotest/TestMoments/route-gone",
	"parted":         "scenariotest/TestMoments/erase",
	"paused":         "scenariotest/TestMoments/pause",
	"route back":     "scenariotest/TestMoments/route-gone",
	"events":         "scenariotest/TestMoments/before-a-partner",
	"transferred":    "scenariotest/TestMoments/before-a-partner",
	"unmade":         "reconcile/TestACreateUnderWayIsWaitedFor",
	"older card":     "reconcile/TestTheOlderCardIsTakenApart",
	"look at each":   "reconcile/TestPairsAreTakenApart",
	"bring back":     "scenariotest/TestMoments/clean",
	"clean":          "reconcile/TestPairsAreTakenApart",
	"restored":       "reconcile/TestACopyIsSeenFirst",
	"with siblings":  "scenariotest/TestScenariosInVirtualTime/sub-issues-batch",
	"enter":          "scenariotest/TestMoments/before-a-partner",
	"join":           "scenariotest/TestMoments/link",
	"create":         "scenariotest/TestMoments/before-a-partner",
	"fold seen":      "reconcile/TestManyEditsAreFolded",
	"see":            "scenariotest/TestMoments/erase",
	"leave":          "scenariotest/TestMoments/erase",
	"overrun":        "scenariotest/TestScenariosInVirtualTime/list-overrun",
	"tracking":       "scenariotest/TestMoments/erase",
	"keep forgotten": "reconcile/TestEditIsRunOverRightBeforeTheStoreIsLost",
	"undo":           "scenariotest/TestMoments/undo",
	"late writes":    "reconcile/TestAWriteToPlanningTakesEffectBetweenTwoRounds",
	"first sight":    "reconcile/TestAValueOfALostWriteIsComparedWithBothSides",
	"decide":         "scenariotest/TestScenariosInVirtualTime/different-attributes-at-once",
	"fold plan":      "reconcile/TestEditsThatOnlyAReadShowsAreFolded",
	"meet":           "reconcile/TestBothSidesSeemToMeet",
	"read first":     "reconcile/TestPeopleRaceTheBridge",
	"announce":       "reconcile/TestDryRunSaysWhatItWouldDecide",
	"swap wait":      "reconcile/TestARemovedEstimateLabelMayBeHalfOfAnExchange",
	"brake":          "reconcile/TestBrakeOnCloses",
	"pace":           "reconcile/TestProgramsThatAnswerEachOther",
	"sign":           "reconcile/TestFooterOfAJoinedPair",
	"keep losers":    "scenariotest/TestScenariosInVirtualTime/policy-planning",
	"extra labels":   "reconcile/TestTheOlderOfTwoEstimateLabelsGoes",
	"write planning": "scenariotest/TestScenariosInVirtualTime/different-attributes-at-once",
	"write GitHub":   "scenariotest/TestScenariosInVirtualTime/different-attributes-at-once",
	"agree":          "scenariotest/TestScenariosInVirtualTime/policy-ask",
	"look again":     "reconcile/TestTheAnswerToAWriteShowsAnEdit",
	"checklist":      "scenariotest/TestScenariosInVirtualTime/list-to-planning",
	"show":           "scenariotest/TestScenariosInVirtualTime/show-labels",
	"rest":           "reconcile/TestStaleReadAfterOurOwnWrite",
	"review":         "scenariotest/TestScenariosInVirtualTime/show-review",
	"mark tasks":     "reconcile/TestTasksThatLostTheirMarkersAreKnown",
	"labels":         "scenariotest/TestScenariosInVirtualTime/show-labels",
	"milestone":      "scenariotest/TestScenariosInVirtualTime/show-milestone",
	"assignees":      "scenariotest/TestScenariosInVirtualTime/show-assignees",
	"parents":        "scenariotest/TestScenariosInVirtualTime/sub-issues-places",
	"sub-issues":     "scenariotest/TestScenariosInVirtualTime/sub-issues",
	"tasks":          "scenariotest/TestScenariosInVirtualTime/sub-issues",
	"each part":      "scenariotest/TestScenariosInVirtualTime/sub-issues",
}

// proven is what nothing can miss, each with a sentence that proves it.
var proven = map[string]string{
	"withhold": "Each write to GitHub asks the same question by itself, and what it refuses parks the key with the same reason.",
}

// few are those that every run of the tests leaves out.
var few = []string{"paused", "left resumed", "orphaned relinked", "erased unlinked"}

// everywhere is where something is looked for that misses what is left out, the fast ones first.
var everywhere = []string{"scenariotest/TestMoments", "scenariotest/TestScenariosInVirtualTime", "TestSim", "reconcile/Test"}

// missedWithin is how long that may take.
const missedWithin = time.Minute

// TestLeftOut leaves out one transition of a pair's state after the other, then one rule after
// the other, and holds that something fails without it. PLANBRIDGE_LEFT_OUT is a pattern of
// the names; "": a few.
func TestLeftOut(t *testing.T) {
	mappingtest.SkipUnderRace(t) // a race is no miss
	pattern := os.Getenv("PLANBRIDGE_LEFT_OUT")
	h := &hunter{binaries: map[string]string{".": os.Args[0]}}
	var names []string
	for _, row := range mapping.Transitions {
		names = append(names, mappingtest.RowName(row))
	}
	for _, r := range reconcile.Rules() {
		names = append(names, r.Name)
	}
	for _, name := range names {
		if n := listsOf(name); n != 1 {
			t.Errorf("%s: it is in %d of the lists, not in one", name, n)
		}
		if ok, err := path.Match(pattern, name); err != nil || !ok && (pattern != "" || !slices.Contains(few, name)) {
			continue
		}
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			began := time.Now()
			by := h.hunt(t, name)
			switch found := found[name] != ""; {
			case by != "" && !found:
				t.Errorf("%s misses it, and it is in a list of those that nothing misses", by)
			case by != "":
				t.Logf("%s misses it, after %s", by, time.Since(began).Round(time.Millisecond))
			case found:
				t.Errorf("nothing misses it")
			}
		})
	}
}

// listsOf is in how many of the lists a name is.
func listsOf(name string) (n int) {
	for _, list := range []map[string]string{found, proven} {
		if list[name] != "" {
			n++
		}
	}
	return n
}

// hunter runs tests in processes of their own.
type hunter struct {
	binaries map[string]string // by their package
}

// hunt returns what fails without something of that name; "": nothing does.
func (h *hunter) hunt(t *testing.T, without string) string {
	tests := everywhere
	if first := found[without]; first != "" {
		tests = append([]string{first}, everywhere...)
		h.binary(t, packageOf(first)) // building takes none of the time
	}
	ctx, cancel := context.WithTimeout(t.Context(), missedWithin)
	defer cancel()
	for _, test := range tests {
		failed := h.fails(ctx, t, test, without)
		switch {
		case ctx.Err() != nil:
			return ""
		case failed == "":
		case h.fails(t.Context(), t, failed, "") != "":
			t.Errorf("%s fails anyway", failed)
		default:
			return failed
		}
	}
	return ""
}

// fails returns the first test of a pattern that fails without something; "": none does.
func (h *hunter) fails(ctx context.Context, t *testing.T, test, without string) string {
	in := packageOf(test)
	pattern := strings.TrimPrefix(test, in+"/")
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		if parts[i] = "^" + part; part != "Test" {
			parts[i] += "$"
		}
	}
	run := exec.CommandContext(ctx, h.binary(t, in), "-test.run", strings.Join(parts, "/"), "-test.failfast", "-test.timeout", "10m")
	if run.Dir = in; in != "." {
		run.Dir = filepath.Join("..", in)
	}
	run.Env = append(os.Environ(), mappingtest.LeftOut+"="+without)
	out, err := run.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case err == nil && bytes.Contains(out, []byte("no tests to run")):
		t.Fatalf("there is no test %s", test)
	case err == nil || ctx.Err() != nil:
		return ""
	case !errors.As(err, &failed):
		t.Fatalf("%s: %v\n%s", test, err, out)
	}
	name := strings.TrimPrefix(test, in+"/")
	for line := range strings.Lines(string(out)) { // deeper calls come later
		if _, after, ok := strings.Cut(line, "--- FAIL: "); ok {
			name, _, _ = strings.Cut(strings.TrimSpace(after), " ")
		}
	}
	if in == "." {
		return name
	}
	return in + "/" + name
}

// packageOf is the directory of a test's package; ".": this one.
func packageOf(test string) string {
	if in, _, _ := strings.Cut(test, "/"); !strings.HasPrefix(in, "Test") {
		return in
	}
	return "."
}

// binary is the test program of a package.
func (h *hunter) binary(t *testing.T, in string) string {
	if h.binaries[in] == "" {
		path := filepath.Join(bridgetest.Built(), in+".test")
		out, err := exec.Command("go", "test", "-c", "-vet=off", "-o", path, "planbridge/bridge/"+in).CombinedOutput()
		if err != nil {
			t.Fatalf("build the tests of %s: %v\n%s", in, err, out)
		}
		h.binaries[in] = path
	}
	return h.binaries[in]
}
