package benchtest_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// TestMeasuredCrowd: 300 issues are opened in one second, and no brake holds them. Fifty and more
// cards are made at a time, and listings serve their reads. GitHub is never asked for more points
// than a minute has.
func TestMeasuredCrowd(t *testing.T) {
	c := crowd(t, 300, unbraked, func(*bridgetest.TestWorld) (mend func()) { return nil })
	t.Logf("%+v", c)
	if c.took > 10*time.Second {
		t.Errorf("the last card was made after %v, want at most 10 s", c.took)
	}
	c.expectShared(t, time.Minute)
}

// TestMeasuredCrowdOfOneAuthor: one author opens 300 issues in one second, with the usual brake. It
// lets the last of them go after its minute, and their cards are made together all the same.
func TestMeasuredCrowdOfOneAuthor(t *testing.T) {
	c := crowd(t, 300, nil, func(*bridgetest.TestWorld) (mend func()) { return nil })
	t.Logf("%+v", c)
	if c.most > 10*time.Second || c.took > 70*time.Second {
		t.Errorf("%d cards were made after %v, the last one after %v, want at most 10 s and 70 s", brakeLetsGo, c.most, c.took)
	}
	c.expectShared(t, 80*time.Second)
}

// expectShared fails the test where issues that enter together cost more than shared requests do,
// or where their labels come later.
func (c crowded) expectShared(t *testing.T, labelled time.Duration) {
	t.Helper()
	if c.reads > 0.2 {
		t.Errorf("%.2f reads of GitHub per issue, want at most 0.2", c.reads)
	}
	if c.creates > 6 {
		t.Errorf("%d requests make cards of 300 issues, want at most 6", c.creates)
	}
	if c.labels > 60 || c.labelled > labelled {
		t.Errorf("%d requests write the labels of 300 issues, the last after %v, want at most 60 and %v", c.labels, c.labelled, labelled)
	}
	if c.minute > documented.PointsPerMinute || c.limits > 0 {
		t.Errorf("%d points in a minute, %d requests were limited", c.minute, c.limits)
	}
}

// TestMeasuredCrowdOfAnOutage: planning is away for an hour, and 300 issues are opened meanwhile.
// When it is back their cards are made together.
func TestMeasuredCrowdOfAnOutage(t *testing.T) {
	c := crowd(t, 300, nil, func(w *bridgetest.TestWorld) (mend func()) {
		w.Planning.Down(true)
		return func() {
			time.Sleep(time.Hour)
			w.Planning.ResetJournal()
			w.Planning.Down(false)
		}
	})
	t.Logf("%+v", c)
	if c.creates > 6 {
		t.Errorf("%d requests make cards of 300 issues, want at most 6", c.creates)
	}
	if c.most > 10*time.Second || c.took > 80*time.Second {
		t.Errorf("%d cards were made after %v, the last one after %v, want at most 10 s and 80 s", brakeLetsGo, c.most, c.took)
	}
}

// TestMeasuredCatchUp: the deliveries of 300 issues are lost, or fail and are made again. The
// catch-up finds the issues, and its listing is the read. A delivery of an opening that is made
// again tells nothing new, however late it comes.
func TestMeasuredCatchUp(t *testing.T) {
	for _, how := range []string{"lost", "made again"} {
		t.Run(how, func(t *testing.T) {
			c := crowd(t, 300, nil, func(w *bridgetest.TestWorld) (mend func()) {
				end := time.Now().Add(time.Minute)
				w.GitHub.SetDelivery(func(d *githubtest.Delivery) {
					d.Drop = time.Now().Before(end)
					d.Lose = d.Drop && how == "lost"
				})
				return nil
			})
			t.Logf("%+v", c)
			if how == "lost" && c.creates > 6 {
				t.Errorf("%d requests make cards of 300 issues, want at most 6", c.creates)
			}
			if c.reads > 0.2 {
				t.Errorf("%.2f reads of GitHub per issue, want at most 0.2", c.reads)
			}
			if c.minute > documented.PointsPerMinute || c.limits > 0 {
				t.Errorf("%d points in a minute, %d requests were limited", c.minute, c.limits)
			}
		})
	}
}

// TestMeasuredRefusal: planning makes some cards of a crowd's request, and refuses it for one of
// them. That delays the others by some seconds, and makes none of them twice.
func TestMeasuredRefusal(t *testing.T) {
	c := crowd(t, 100, nil, func(w *bridgetest.TestWorld) (mend func()) {
		requests := 0
		second := func(_, _ string) bool { requests++; return requests == 2 } // the first one has few
		w.Planning.Fault(planningtest.Fault{Op: planningtest.OpCardCreate, Match: second, Kind: planningtest.PartialBatch, N: 30, Status: http.StatusBadRequest})
		return nil
	})
	t.Logf("%+v", c)
	if c.took > 15*time.Second || c.creates < 5 || c.creates > 20 {
		t.Errorf("%d requests made the cards, the last one after %v, want at most 20 and 15 s", c.creates, c.took)
	}
}

// crowded is what many issues that enter together cost.
type crowded struct {
	reads          float64       // of GitHub, per issue, those answered with 304 included
	creates        int           // requests that make cards
	second, minute int           // most points of GitHub
	limits         int           // requests that GitHub limited
	most, took     time.Duration // until those cards are made that the brake lets go at once, and all
	labels         int           // requests that write labels
	labelled       time.Duration
}

// brakeLetsGo is how many issues of one author the usual brake lets enter in a minute.
const brakeLetsGo = 300 * 11 / 12

// unbraked lets more issues enter in a minute than a route usually takes.
func unbraked(yaml string) string { return yaml + "brakes: {creates_per_minute: 1000}\n" }

// crowd has issues opened within a second, and waits until each has its one card. Earlier faults
// may be mended once they are open.
func crowd(t *testing.T, issues int, config func(string) string, wrong func(*bridgetest.TestWorld) (mend func())) (c crowded) {
	t.Helper()
	virtually(t, bridgetest.Options{Config: config}, func(w *bridgetest.TestWorld) {
		if err := w.StartBridge(); err != nil {
			w.T.Fatal(err)
		}
		time.Sleep(time.Hour)
		w.GitHub.ResetJournal()
		w.Planning.ResetJournal()
		mend := wrong(w)
		began := time.Now()
		for i := range issues {
			w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Deploy ", i)})
			time.Sleep(time.Second / time.Duration(issues))
		}
		if mend != nil {
			mend()
			began = time.Now()
		}
		await(w, "most issues have their cards", 100*time.Millisecond, func() bool { return len(w.Project.Cards()) >= min(issues, brakeLetsGo) })
		c.most = time.Since(began)
		await(w, "each issue has its card", 100*time.Millisecond, func() bool { return len(w.Project.Cards()) >= issues })
		c.took = time.Since(began)
		await(w, "each issue has its labels", time.Second, func() bool { return labelled(w) >= issues })
		c.labelled = time.Since(began)
		time.Sleep(time.Hour)
		if cards := len(w.Project.Cards()); cards != issues {
			w.T.Fatalf("%d issues have %d cards", issues, cards)
		}
		calls := w.GitHub.Journal()
		c.reads = float64(reads(calls)) / float64(issues)
		c.creates = w.Planning.Calls(planningtest.OpCardCreate)
		c.labels = w.GitHub.Calls("labels.add", "label.remove", "graphql.labels")
		c.second, c.minute, c.limits = busiest(calls, time.Second), busiest(calls, time.Minute), refused(calls)
		w.T.Logf("GitHub: %s", operations(calls))
	})
	return c
}
