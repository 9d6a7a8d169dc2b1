package randomtest_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/mapping"
)

// A repository of the random run is made public for a while. The law for it: from the moment that
// planbridge can know of it, nothing of planning is shown there.

// visibilityAge is how long GitHub's answer on the readers of the repository counts in such a run.
// An unansweredAge passes before the next question where GitHub does not answer.
const visibilityAge, unansweredAge = 3 * time.Second, 30 * time.Second

// publicKnown is how long after that something may still be written: a request that was
// allowed before may take effect so late.
const publicKnown = chaosSettle

// publicity is the time in which the repository is public.
type publicity struct {
	*turn
	begins bool // it is public before the bridge knows it
	spells []span
}

// drawPublic says whether the repository is public at times.
func (c *chaos) drawPublic(o *bridgetest.Options) {
	one := c.trait(40)
	if one == nil {
		return
	}
	c.public = &publicity{turn: one, begins: one.chance(30)}
	o.Public, o.Members = c.public.begins, []string{"octocat", "hubot"} // others' issues wait in quarantine
	if c.public.begins {
		c.public.spells = []span{{from: time.Now()}}
	}
}

// visibilityAge is that of the run's bridges; 0: as usual.
func (c *chaos) visibilityAge() time.Duration {
	if c.public == nil {
		return 0
	}
	return visibilityAge
}

// publishing makes the repository public and private again by turns. As people stop, it may
// be either.
func (c *chaos) publishing(ctx context.Context) {
	if c.public == nil {
		return
	}
	for {
		if !c.public.begins {
			if !c.rests(ctx, c.public.Rand, 0, 10*time.Second) {
				return
			}
			c.public.begin(c)
		}
		if !pause(ctx, c.public.Rand, visibilityAge+publicKnown, visibilityAge+publicKnown+8*time.Second) {
			return
		}
		c.public.end(c)
	}
}

func (p *publicity) begin(c *chaos) {
	p.begins, p.spells = true, append(p.spells, span{from: time.Now()})
	c.Repo.Publish(true)
	c.people.did(do("github", "publish"), "somebody makes the repository public")
}

// end makes the repository private, if it is public.
func (p *publicity) end(c *chaos) {
	if p == nil || !p.begins {
		return
	}
	p.begins, p.spells = false, ended(p.spells, time.Now())
	c.people.did(do("github", "privatize"), "somebody makes the repository private")
	c.Repo.Publish(false)
}

// untaken reports whether an item may have been seen first while the repository was known as
// public, or the route was not configured. Such an item is not taken.
func (s seen) untaken(item *seenItem) bool {
	past := item.past[mapping.Title]
	return item.unsure || len(past) > 0 && (s.untakenAt(past[0].at) || outside(item.away, past[0].at))
}

// untakenAt reports whether what happened at a time may have let nothing enter.
func (s seen) untakenAt(at time.Time) bool {
	return s.unrouted(at) || slices.ContainsFunc(s.public, func(public span) bool {
		seen := span{at, at.Add(unansweredAge)}
		return seen.has(public.from) || seen.from.After(public.from) && (public.to.IsZero() || seen.from.Before(public.to.Add(unansweredAge)))
	})
}

// untakenCard reports the same of a card, or of the card of a task.
func (s seen) untakenCard(c *seenCard) bool {
	for n := range s.cards {
		if s.cards[n].id == c.of {
			c = &s.cards[n]
		}
	}
	return s.others[c.id] || s.untaken(&c.seenItem)
}

// whilePublic complains of what shows planning's side in the repository while it was
// public.
func (c *chaos) whilePublic() []complaint {
	if c.public == nil {
		return nil
	}
	var hooks []int64
	if !c.sim.forgotten { // the store keeps an event's statement
		for _, d := range c.GitHub.Deliveries() {
			if !slices.Contains(hooks, d.HookID) {
				hooks = append(hooks, d.HookID)
			}
		}
	}
	calls := slices.DeleteFunc(c.GitHub.Journal(), c.cleansIssue) // which say nothing that the issue does not show
	return judgePublic(c.public.spells, calls, c.GitHub.Deliveries(), hooks)
}

// judgePublic is whilePublic for the journals of GitHub. hooks are those of the bridges;
// none: an event is not counted on.
func judgePublic(public []span, calls []githubtest.Call, deliveries []githubtest.Delivery, hooks []int64) (all []complaint) {
	for _, spell := range public {
		known := span{spell.from.Add(visibilityAge), spell.to}
		if told := toldPublic(spell, deliveries, hooks); !told.IsZero() && told.Before(known.from) {
			known.from = told
		}
		known.from = known.from.Add(publicKnown)
		for n, call := range calls {
			if !writesRepo(call) || call.Op == "label.remove" || !known.hasSecond(call.Time) || unanswered(calls[:n], call.Time, spell) {
				continue
			}
			all = append(all, complaint{issue: call.Number, what: "written while the repository was public: " + call.Op + " " + call.Path + " " + call.Body})
		}
	}
	return all
}

// toldPublic is when each of the bridges had taken in an event of that time; zero: never.
func toldPublic(public span, deliveries []githubtest.Delivery, hooks []int64) (at time.Time) {
	for _, hook := range hooks {
		first := slices.IndexFunc(deliveries, func(d githubtest.Delivery) bool {
			return d.HookID == hook && d.Event == "repository" && d.Action == "publicized" && d.Status == http.StatusAccepted && public.has(d.At)
		})
		if first < 0 {
			return time.Time{}
		}
		if took := deliveries[first].At; took.After(at) {
			at = took
		}
	}
	return at
}

// unanswered reports whether GitHub did not say lately, when it was asked, who can read
// the repository. It is asked again after a while, and what was known stands until then.
func unanswered(calls []githubtest.Call, at time.Time, public span) bool {
	return slices.ContainsFunc(calls, func(call githubtest.Call) bool {
		return call.Op == "repo.get" && (call.Fault != "" || call.Status >= http.StatusBadRequest) && at.Sub(call.Time) <= unansweredAge && !call.Time.Before(public.from.Truncate(time.Second))
	})
}

func TestPublicityIsJudged(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	public := []span{{at, at.Add(time.Minute)}}
	after := func(d time.Duration, op, fault string) githubtest.Call {
		method := map[string]string{"issue.patch": "PATCH", "label.remove": "DELETE", "repo.get": "GET"}[op]
		return githubtest.Call{Time: at.Add(d), Op: op, Method: method, Fault: fault, Status: 200}
	}
	told := []githubtest.Delivery{{HookID: 7, Event: "repository", Action: "publicized", Status: http.StatusAccepted, At: at.Add(time.Second)}}
	for name, c := range map[string]struct {
		calls      []githubtest.Call
		deliveries []githubtest.Delivery
		want       int
	}{
		"before":                        {[]githubtest.Call{after(-time.Second, "issue.patch", "")}, nil, 0},
		"soon":                          {[]githubtest.Call{after(4*time.Second, "issue.patch", "")}, nil, 0},
		"soon, though an event told it": {[]githubtest.Call{after(4*time.Second, "issue.patch", "")}, told, 1},
		"later":                         {[]githubtest.Call{after(6*time.Second, "issue.patch", "")}, nil, 1},
		"a label that is taken off":     {[]githubtest.Call{after(6*time.Second, "label.remove", "")}, nil, 0},
		"a read":                        {[]githubtest.Call{after(6*time.Second, "repo.get", "")}, nil, 0},
		"GitHub did not tell":           {[]githubtest.Call{after(4*time.Second, "repo.get", "down"), after(6*time.Second, "issue.patch", "")}, nil, 0},
		"GitHub did not tell before":    {[]githubtest.Call{after(-time.Second, "repo.get", "down"), after(6*time.Second, "issue.patch", "")}, nil, 1},
		"private again":                 {[]githubtest.Call{after(time.Minute, "issue.patch", "")}, nil, 0},
	} {
		if got := judgePublic(public, c.calls, c.deliveries, []int64{7}); len(got) != c.want {
			t.Errorf("%s: complaints %v, want %d", name, got, c.want)
		}
	}
}

func TestJudgeKnowsPublicCards(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	made := func(s *seen, d time.Duration) {
		past := map[mapping.Attribute][]write{mapping.Title: {{to: "x", person: true, at: at.Add(d)}}}
		s.public = []span{{at, at.Add(time.Minute)}}
		s.cards = append(s.cards, seenCard{id: "c2", bucket: bridgetest.Bucket, seenItem: seenItem{past: past, now: map[mapping.Attribute]string{mapping.Title: "x"}}})
	}
	for name, c := range map[string]struct {
		change func(*seen)
		want   string // "": nothing is wrong
	}{
		"made while it was public": {func(s *seen) { made(s, time.Second) }, ""},
		"long before":              {func(s *seen) { made(s, -time.Hour) }, "no issue"},
		"long after":               {func(s *seen) { made(s, time.Hour) }, "no issue"},
	} {
		t.Run(name, func(t *testing.T) { judgeAgreed(t, c.change, c.want) })
	}
}
