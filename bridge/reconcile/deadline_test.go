package reconcile_test

import (
	"context"
	"testing"
	"time"

	"planbridge/mapping/mappingtest"

	"planbridge/bridge/effects"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// watch checks that each write to a service ends before the lease of the key that is being worked.
// A process that takes the key over must not meet it.
type watch struct {
	w     *world
	until time.Time // when the lease ends
	seen  map[string]int
}

func (s *watch) write(ctx context.Context, name string) {
	s.seen[name]++
	if end, ok := ctx.Deadline(); !ok || s.until.Sub(end) < 5*time.Second {
		s.w.fail("%s may go on until %v, the lease ends at %v", name, end, s.until)
	}
}

type watchedStore struct {
	store.Store
	*watch
}

// Save is what the lease is checked with before each write.
func (s *watchedStore) Save(ctx context.Context, c *store.Claim, link *mapping.Link) error {
	s.until = c.Until
	return s.Store.Save(ctx, c, link)
}

type watchedHub struct {
	effects.GitHub
	*watch
}

func (h *watchedHub) CreateIssue(ctx context.Context, repo string, n reconcile.NewIssue) (mapping.Issue, error) {
	h.write(ctx, "CreateIssue")
	return h.GitHub.CreateIssue(ctx, repo, n)
}

func (h *watchedHub) EditIssue(ctx context.Context, repo string, number int, e reconcile.IssueEdit) (mapping.Issue, error) {
	h.write(ctx, "EditIssue")
	return h.GitHub.EditIssue(ctx, repo, number, e)
}

func (h *watchedHub) AddLabels(ctx context.Context, repo string, number int, labels []string) ([]string, error) {
	h.write(ctx, "AddLabels")
	return h.GitHub.AddLabels(ctx, repo, number, labels)
}

func (h *watchedHub) RemoveLabel(ctx context.Context, repo string, number int, label string) ([]string, error) {
	h.write(ctx, "RemoveLabel")
	return h.GitHub.RemoveLabel(ctx, repo, number, label)
}

func (h *watchedHub) CreateComment(ctx context.Context, repo string, number int, body string) (reconcile.Comment, error) {
	h.write(ctx, "CreateComment")
	return h.GitHub.CreateComment(ctx, repo, number, body)
}

type watchedPlan struct {
	effects.Planning
	*watch
	user string // whom planning refuses
}

func (p *watchedPlan) refuses(user string) error {
	if user == p.user {
		return &mapping.Rejection{Status: 400, Field: "username", Message: "no such member"}
	}
	return nil
}

func (p *watchedPlan) CreateCard(ctx context.Context, bucket mapping.ObjectID, user string, n reconcile.NewItem) (mapping.Card, error) {
	p.write(ctx, "CreateCard "+user)
	if err := p.refuses(user); err != nil {
		return mapping.Card{}, err
	}
	return p.Planning.CreateCard(ctx, bucket, user, n)
}

func (p *watchedPlan) CreateTasks(ctx context.Context, card mapping.ObjectID, user string, items []reconcile.NewItem) ([]mapping.Task, error) {
	p.write(ctx, "CreateTasks "+user)
	if err := p.refuses(user); err != nil {
		return nil, err
	}
	return p.Planning.CreateTasks(ctx, card, user, items)
}

func (p *watchedPlan) UpdateCard(ctx context.Context, id mapping.ObjectID, user string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	p.write(ctx, "UpdateCard "+user)
	if err := p.refuses(user); err != nil {
		return reconcile.Updated{}, err
	}
	return p.Planning.UpdateCard(ctx, id, user, images, set)
}

func (p *watchedPlan) UpdateTask(ctx context.Context, id mapping.ObjectID, user string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (reconcile.Updated, error) {
	p.write(ctx, "UpdateTask "+user)
	if err := p.refuses(user); err != nil {
		return reconcile.Updated{}, err
	}
	return p.Planning.UpdateTask(ctx, id, user, images, set)
}

// watch puts a watch over everything that the bridge writes; planning refuses
// the user that octocat is there.
func (w *world) watch() *watch {
	s := &watch{w: w, seen: map[string]int{}}
	o := &w.recon.Options
	o.Store, o.GitHub = &watchedStore{o.Store, s}, &watchedHub{o.GitHub, s}
	w.engine.Store = o.Store
	o.Projects, o.Settings = watchedProjects{o.Projects, s}, oneUser{o.Settings}
	return s
}

// watchedProjects are projects of which all that is written is watched.
type watchedProjects struct {
	effects.Projects
	s *watch
}

func (p watchedProjects) Planning(id mapping.ObjectID) effects.Planning {
	return &watchedPlan{p.Projects.Planning(id), p.s, "alice"}
}

// oneUser are settings in which octocat alone is a user.
type oneUser struct{ all effects.Settings }

func (u oneUser) Settings() *reconcile.Settings {
	set := *u.all.Settings()
	set.Users = map[string]string{dev: "alice"}
	return &set
}

func TestEveryWriteEndsBeforeItsLease(t *testing.T) {
	t.Parallel()
	for _, s := range mappingtest.Drawn(scenarios()) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				if s.tune != nil {
					s.tune(w)
					w.restart()
				}
				w.watch()
				if s.before != nil {
					s.before(w)
					w.settle()
				}
				s.do(w)
				w.settle()
			})
		})
	}
}

// The writes that are made again: in the name of the route's user, and one
// attribute at a time.
func TestEveryRepeatedWriteEndsBeforeItsLease(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		s := w.watch()
		w.agree()
		w.plan.refuse = func(a mapping.Attribute, value string) *mapping.Rejection {
			if a == mapping.Estimate && value == "99" {
				return &mapping.Rejection{Status: 400, Message: "no"}
			}
			return nil
		}
		w.editIssue(mapping.Title, to("tok4"))
		w.editIssue(mapping.Estimate, to("99"))
		w.settle()
		w.hub.refuse = func(a mapping.Attribute, value string) *mapping.Rejection {
			if a == mapping.Title && value == "tok5" {
				return &mapping.Rejection{Status: 422, Message: "no"}
			}
			return nil
		}
		w.editCard(mapping.Title, to("tok5"))
		w.editCard(mapping.Summary, line("tok2", "tok6"))
		w.settle()
		for name, least := range map[string]int{"CreateCard alice": 1, "CreateCard bridge": 1, "UpdateCard alice": 1, "UpdateCard bridge": 2, "EditIssue": 3} {
			if s.seen[name] < least {
				w.fail("%s was called %d times, want %d: %v", name, s.seen[name], least, s.seen)
			}
		}
	})
}
