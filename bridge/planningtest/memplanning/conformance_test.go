package memplanning_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"planbridge/bridge/planning"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/planningtest/memplanning"
	"planbridge/bridge/planningtest/planningmodel"
	"planbridge/mapping"
)

const secret = "0123456789abcdef0123456789abcdef"

// client is what both clients are.
type client interface {
	planning.Reader
	Bucket(ctx context.Context, id mapping.ObjectID) (planning.Bucket, error)
	BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error)
	BucketCards(ctx context.Context, bucket mapping.ObjectID) ([]mapping.Card, error)
	Backlog(ctx context.Context) ([]planning.BucketItems, error)
	BacklogNews(ctx context.Context, since string, known func(mapping.ObjectID, string, []byte, []byte) bool, visit func(mapping.ObjectID, string, mapping.Card) error) (string, bool, error)
	EachCard(ctx context.Context, visit func(mapping.Card) error) error
	CheckProject(ctx context.Context) error
	Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error)
	Tasks(ctx context.Context, card mapping.ObjectID) ([]mapping.Task, error)
	Task(ctx context.Context, id mapping.ObjectID) (mapping.Task, error)
	Sprint(ctx context.Context, id mapping.ObjectID) (planning.Sprint, error)
	Burndown(ctx context.Context, sprint mapping.ObjectID) (planning.Burndown, error)
	CreateCard(ctx context.Context, bucket mapping.ObjectID, username string, card planning.NewCard) (mapping.Card, error)
	CreateCardsBy(ctx context.Context, bucket mapping.ObjectID, cards []planning.UserCard) ([]mapping.Card, error)
	CreateTask(ctx context.Context, card mapping.ObjectID, username string, task planning.NewTask) (mapping.Task, error)
	CreateTasks(ctx context.Context, card mapping.ObjectID, username string, tasks []planning.NewTask) ([]mapping.Task, error)
	UpdateCard(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (planning.Updated, error)
	UpdateTask(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (planning.Updated, error)
	SetSecret(secret string)
}

// pick returns one of the choices.
func pick[T any](rng *rand.Rand, choices ...T) T { return choices[rng.IntN(len(choices))] }

func flip(rng *rand.Rand) bool { return rng.IntN(2) == 0 }

// randomTraits are any that a service may have.
func randomTraits(rng *rand.Rand) planningtest.Traits {
	t := planningtest.Traits{
		ConflictStatus: pick(rng, 0, 0, 200, 400, 412, 500),
		ConflictShape: pick(rng, "", planningtest.ConflictItem, planningtest.ConflictCurrent, planningtest.ConflictErrors,
			planningtest.ConflictEmpty, planningtest.ConflictText, planningtest.ConflictArray),
		SuccessStatus:  planningtest.StatusByKind{Read: pick(rng, 0, 203), Create: pick(rng, 0, 201, 201, 204), Update: pick(rng, 0, 0, 202, 204)},
		EmptySummary:   pick(rng, "", planningtest.EmptyNull, planningtest.EmptyObject),
		HTMLInAnswers:  pick(rng, "", planningtest.HTMLAlways, planningtest.HTMLNever),
		NumericStrings: flip(rng), FloatNumbers: flip(rng), BareOIDs: flip(rng), UnknownFields: flip(rng), OmitOptional: flip(rng),
		BatchOrder: pick(rng, "", planningtest.BatchReversed, planningtest.BatchShuffled),
		SprintForm: pick(rng, "", planningtest.SprintNested, planningtest.SprintBoth),
		Validators: pick(rng, "", planningtest.StrongETag, planningtest.WeakETag, planningtest.LastModified), Gzip: flip(rng),
		SprintCardsInBacklog: flip(rng), BucketIDsDiffer: flip(rng),
		BucketIDAccepted:  pick(rng, "", planningtest.BucketIDListing, planningtest.BucketIDState),
		NormaliseMarkdown: flip(rng), StripControl: flip(rng),
		SameValueRaisesVersion: flip(rng), StateVersionSticks: flip(rng), StateVersionKept: flip(rng),
		CreateEstimateVersion1: flip(rng), TaskEditRaisesCardVersion: flip(rng), RefuseEstimate: flip(rng),
		MaxTitle: pick(rng, 0, 8), MaxBatch: pick(rng, 0, 2),
		RefusalStatus: pick(rng, 0, 409, 422, 500), UnknownUserStatus: pick(rng, 0, 403, 404), MissingItemStatus: pick(rng, 0, 403, 410, 429),
	}
	if flip(rng) {
		t.RewriteMarkdown = planningtest.Mangle
	}
	return t
}

// twins are one service over HTTP and one without, of whom the same is asked.
type twins struct {
	*testing.T
	rng      *rand.Rand
	now      time.Time
	services [2]*planningmodel.Service
	projects [2]*planningmodel.Project
	clients  [2]client
	sprints  []string
}

func newTwins(t *testing.T, rng *rand.Rand) *twins {
	w := &twins{T: t, rng: rng, now: time.Date(2026, 3, 4, 5, 6, 7, 890_123_456, time.UTC)}
	clock := func() time.Time { return w.now }
	traits := randomTraits(rng)
	t.Logf("traits %+v", traits)
	server, err := planningtest.Start(planningtest.Options{Traits: traits, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	w.services = [2]*planningmodel.Service{server.Service(), planningmodel.New(planningmodel.Options{
		Traits: traits, Now: clock, Shuffle: planningtest.Shuffle(),
	})}
	for i, s := range w.services {
		w.projects[i] = s.AddProject(planningmodel.ProjectSpec{
			Title: "Web", Secret: secret, Members: []string{"bridge", "alice"},
			Followers: []string{"fred"}, Buckets: []string{"Incoming", "Bugs", "Bugs"},
		})
	}
	id := mapping.ObjectID(w.projects[0].ID())
	overHTTP, err := planning.New(planning.Options{BaseURL: server.URL(), Project: id, Secret: secret, ReadRetries: -1, BreakerAfter: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(overHTTP.Close)
	w.clients = [2]client{overHTTP, memplanning.New(w.services[1], id, secret)}
	return w
}

// people lets people do the same on both sides.
func (w *twins) people(do func(p *planningmodel.Project)) {
	for _, p := range w.projects {
		do(p)
	}
}

// ask asks both clients and compares what they return.
func (w *twins) ask(what string, call func(c client) (any, error)) {
	w.Helper()
	var results [2]any
	var failures [2]string
	for i, c := range w.clients {
		result, err := call(c)
		results[i], failures[i] = result, failure(err)
	}
	if !reflect.DeepEqual(results[0], results[1]) || failures[0] != failures[1] {
		w.Fatalf("%s: (- over HTTP, + without)\n%s\n%s", what, cmp.Diff(results[0], results[1]), cmp.Diff(failures[0], failures[1]))
	}
}

// failure spells an error: what it is and what it says.
func failure(err error) string {
	if err == nil {
		return ""
	}
	out := ""
	for name, target := range map[string]error{"unauthorized": mapping.ErrUnauthorized, "forbidden": mapping.ErrForbidden} {
		if errors.Is(err, target) {
			out += name + " "
		}
	}
	for _, target := range []error{mapping.ErrNotFound, mapping.ErrGone, mapping.ErrMoved, mapping.ErrRejected, mapping.ErrUnavailable, mapping.ErrUncertain, errEnough} {
		if errors.Is(err, target) {
			out += target.Error() + " "
		}
	}
	var conflict *mapping.VersionConflict
	if errors.As(err, &conflict) {
		out += fmt.Sprintf("conflict %v ", conflict.Current)
	}
	var rejection *mapping.Rejection
	if errors.As(err, &rejection) {
		out += fmt.Sprintf("%+v ", *rejection)
	}
	var limited *mapping.RateLimited
	if errors.As(err, &limited) {
		out += fmt.Sprintf("%+v ", *limited)
	}
	said, _, _ := strings.Cut(err.Error(), "answer not understood: ") // what was not depends on how it is spelt
	return out + "| " + said
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// TestClientsAgree lets people and clients act at random, and asks the same of the
// client over HTTP and of the one without: every result, every error and every state
// that they leave is the same, whatever the service's traits.
func TestClientsAgree(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	for i := range uint64(4) {
		t.Run(fmt.Sprint(seed+i), func(t *testing.T) {
			w := newTwins(t, rand.New(rand.NewPCG(seed+i, 0)))
			for range 2 {
				w.newSprint()
			}
			for range 150 {
				w.now = w.now.Add(time.Duration(w.rng.IntN(3_000_000)) * time.Microsecond)
				w.step()
				if w.services[0].Digest() != w.services[1].Digest() {
					t.Fatalf("the states differ: (- over HTTP, + without)\n%s", cmp.Diff(w.projects[0].Cards(), w.projects[1].Cards()))
				}
			}
		})
	}
}
