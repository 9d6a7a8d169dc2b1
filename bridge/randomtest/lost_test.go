package randomtest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planningtest"
)

// span is a time in which the bridges learned what their store holds now.
type span struct{ from, to time.Time } // to is zero where it lasts

func (s span) has(at time.Time) bool { return !at.Before(s.from) && (s.to.IsZero() || at.Before(s.to)) }

// ended closes the span that lasts.
func ended(all []span, at time.Time) []span {
	all = slices.Clone(all)
	for i := range all {
		if all[i].to.IsZero() {
			all[i].to = at
		}
	}
	return all
}

// untold marks the cards in a sprint whose bucket no listing has told since the store
// was lost. A sprint's listing does not tell it, nor does a read of a card in a
// sprint, so that nobody can know it.
func (c *chaos) untold(cards []seenCard) {
	listed := slices.DeleteFunc(c.Planning.Journal(), func(call planningtest.Call) bool {
		learned := slices.ContainsFunc(c.sim.learned, func(s span) bool { return s.has(call.Time) })
		return !learned || call.Op != planningtest.OpBacklogItems || call.Status != http.StatusOK || call.Fault != ""
	})
	for _, card := range cards {
		if card.says == nil || card.says.sprint == "" {
			continue
		}
		project := c.people.project(card.id)
		made, sprints := project.History(card.id, "title")[0].Time, project.History(card.id, "iteration")
		card.says.untold = c.sim.witness.forgets(card.id) || !slices.ContainsFunc(listed, func(call planningtest.Call) bool {
			return strings.Contains(call.Path, project.ID()) && lists(call, made, sprints)
		})
	}
}

// lists reports whether a listing of the backlog shows a card, by when it was made and its sprints.
// It reads the service's answer once the call has waited.
func lists(call planningtest.Call, made time.Time, sprints []planningtest.Value) bool {
	read := call.Time.Add(call.Duration)
	return made.Before(read) && inBacklog(sprints, read)
}

// inBacklog reports whether a card that was in these sprints was in none at a time.
func inBacklog(sprints []planningtest.Value, at time.Time) bool {
	sprint := ""
	for _, v := range sprints {
		if !v.Time.After(at) {
			sprint = v.Value
		}
	}
	return sprint == ""
}

// lateEffect is how long after its request a write that gets no answer may take effect.
const lateEffect = 5 * time.Second

// markUnanswered marks the writes to planning whose answer the bridge may not have got: the
// service gave none, or the bridge ended meanwhile.
func (c *chaos) markUnanswered(cards []seenCard) {
	faulty := slices.DeleteFunc(c.Planning.Journal(), func(call planningtest.Call) bool {
		return call.Fault == "" || call.Op != planningtest.OpCardUpdate && call.Op != planningtest.OpTaskUpdate
	})
	ends := slices.DeleteFunc(c.people.entries(), func(e entry) bool { return !slices.Equal(e.Do, do("bridge", "stop")) })
	for _, card := range cards {
		for _, past := range card.past {
			for i := range past {
				w := &past[i]
				w.unanswered = !w.person && (slices.ContainsFunc(faulty, func(call planningtest.Call) bool {
					late := w.at.Sub(call.Time)
					return strings.HasSuffix(call.Path, "/"+card.id) && late >= 0 && late < lateEffect
				}) || slices.ContainsFunc(ends, func(e entry) bool { return e.At.Sub(w.at).Abs() < time.Second }))
			}
		}
	}
}

func TestJudgeAsksForNoBucketThatNobodyTold(t *testing.T) {
	for name, c := range map[string]struct {
		says   saying
		labels []string
		want   int
	}{
		"in the backlog":               {saying{bucket: bridgetest.Bucket}, nil, 1},
		"in a sprint":                  {saying{bucket: bridgetest.Bucket, sprint: "s"}, nil, 1},
		"in a sprint, untold":          {saying{bucket: bridgetest.Bucket, sprint: "s", untold: true}, nil, 0},
		"in a sprint, untold, and old": {saying{bucket: bridgetest.Bucket, sprint: "s", untold: true}, []string{"bucket:Later"}, 0},
		"a status beside it":           {saying{bucket: bridgetest.Bucket, sprint: "s", untold: true, status: "done"}, nil, 1},
	} {
		j := &judging{}
		j.shown(&seenIssue{shows: &showing{labels: c.labels, milestone: len(c.says.sprint)}}, &seenCard{says: &c.says})
		if len(j.complaints) != c.want {
			t.Errorf("%s: complaints %v, want %d", name, j.complaints, c.want)
		}
	}
}

func TestListingShowsWhatIsThereWhenItIsRead(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1_700_000_000, int64(ms)*int64(time.Millisecond)) }
	call := planningtest.Call{Time: at(100), Duration: 80 * time.Millisecond}
	for name, c := range map[string]struct {
		made, planned int
		want          bool
	}{
		"in a sprint before it is asked": {0, 50, false},
		"in a sprint while it waits":     {0, 150, false},
		"in a sprint once it is read":    {0, 190, true},
		"made while it waits":            {150, 190, true},
		"made once it is read":           {190, 195, false},
	} {
		if got := lists(call, at(c.made), []planningtest.Value{{Value: "s", Time: at(c.planned)}}); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
