package bridge

import (
	"context"
	"errors"
	"time"

	"planbridge/bridge/adapters"
	"planbridge/bridge/effects"
	"planbridge/bridge/importer"
	"planbridge/bridge/inventory"
	"planbridge/bridge/jobs"
	"planbridge/bridge/settings"
	"planbridge/bridge/status"
	"planbridge/bridge/verifier"
	"planbridge/mapping"
)

// services answers the admin listener's requests to both services.
type services struct {
	app *App
	*importer.Importer
	*verifier.Verifier
}

var _ status.Services = services{}

func (a *App) newServices() services {
	lists := inventory.New(inventory.Options{Store: a.store, Settings: a.set, GitHub: adapters.Inventory{GitHub: a.github}, Projects: &a.projects})
	return services{
		app: a,
		Importer: importer.New(importer.Options{
			Store: a.store, Inventory: lists, GitHub: a.github, Intake: a.observed(), Services: liveServices{a}, Budget: importBudget{a.set, a.github},
			Jobs: a.jobs, Guard: a.guard, Clock: a.o.Clock,
		}),
		Verifier: verifier.New(verifier.Options{
			Store: a.store, Inventory: lists, GitHub: a.github, Intake: a.observed(), Services: liveServices{a}, Metrics: a.metrics.verifier,
			Jobs: a.jobs, Guard: a.guard, Clock: a.o.Clock, Schedule: a.set, Owner: a.o.Owner, Session: a.session, Logger: a.log,
		}),
	}
}

// Job implements [status.Services].
func (s services) Job(_ context.Context, id string) (status.Job, error) { return s.app.jobs.Get(id) }

// Join implements [status.Services].
func (s services) Join(ctx context.Context, issue, card string) (status.Link, error) {
	return s.app.Operator().Link(ctx, issue, card)
}

// Clean implements [status.Services].
func (s services) Clean(ctx context.Context, ask status.CleanAsk) (status.Job, error) {
	op := s.app.Operator()
	refused, err := op.MayClean(ctx, ask)
	if err != nil {
		return status.Job{}, err
	}
	by, forecast := status.Actor(ctx), s.app.set.Forecast
	doing := "taking off what planbridge made"
	if ask.Moves() {
		doing = "moving issues to another project"
	}
	first := status.Job{Kind: "clean", Doing: doing, Clean: &status.CleanResult{DryRun: ask.DryRun, Refused: refused, Steps: []status.CleanStep{}}}
	return s.app.jobs.Start(first, ask, func(ctx context.Context, j *jobs.Job) error {
		err := op.Clean(status.WithActor(ctx, by), ask, j.Update)
		j.Update(func(now *status.Job) {
			if n := now.Clean.Writes; n > 0 {
				takes, bound := forecast(0, n)
				now.Clean.Forecast, now.Clean.Bound = takes.Seconds(), bound
			}
		})
		return err
	})
}

// DeleteComment implements [status.Services].
func (s services) DeleteComment(ctx context.Context, repo string, id int64) error {
	err := s.app.github.DeleteComment(ctx, repo, id)
	if errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone) {
		return nil
	}
	return err
}

// importBudget is the budget of imports.
type importBudget struct {
	set    *settings.Current
	labels effects.Labels
}

// Forecast implements [importer.Budget]. The edits of an import are labels. One request writes the
// labels of several issues, except labels of one issue alone.
func (b importBudget) Forecast(issues, edits int) (takes time.Duration, bound string) {
	together := max(1, b.labels.LabelBatch())
	if b.set.Load().Scheme.Card != "" {
		together = 1
	}
	return b.set.Forecast(issues, (edits+together-1)/together)
}
