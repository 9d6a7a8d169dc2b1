package bridge

import (
	"context"
	"fmt"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/bridge/settings"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// intakeHost is the program as the intake of deliveries sees it.
type intakeHost struct {
	*settings.Current
	a *App
}

func (h intakeHost) FirstRun(route string) time.Time { return h.a.firstRuns.At(route) }

func (h intakeHost) Delivered() {
	h.a.monitor.Heard(reconcile.ServiceGitHub, status.SourceDelivery)
}

func (h intakeHost) Authorship(login string) mapping.Authorship { return h.a.github.Authorship(login) }

func (h intakeHost) Met(ctx context.Context, login string, id int64) {
	h.a.github.People.Meet(ctx, login, id)
}

func (h intakeHost) OtherInstallation(owner string, id int64) bool {
	return h.a.github.OtherInstallation(owner, id)
}

func (h intakeHost) Released(ctx context.Context, issue *mapping.Issue) (bool, error) {
	return h.a.github.Released(ctx, issue)
}

func (h intakeHost) Identify(ctx context.Context, repo string, id int64) (string, error) {
	if h.a.Epoch() == "" {
		return "", errUnreached
	}
	now, err := h.a.github.Registry.Identify(ctx, repo, id)
	if err != nil {
		return "", fmt.Errorf("which repository is called %s: %w", repo, err)
	}
	if now == "" && repo != "" {
		h.a.log.Info("an event is of another repository than its name stands for", "repo", repo, "id", id)
	}
	return now, nil
}

func (h intakeHost) NameOf(id int64) string { return h.a.github.Registry.NameOf(id) }

func (h intakeHost) Visible(ctx context.Context, repo string, public bool) bool {
	now, doubted := h.a.github.Registry.SeeVisibility(ctx, repo, public)
	if doubted {
		h.a.requeue.TakeUpRepository(ctx, repo)
	}
	return now
}

func (h intakeHost) Renamed(ctx context.Context, from, to string) error {
	return h.a.github.Registry.CheckRename(ctx, from, to)
}

func (h intakeHost) Writable(ctx context.Context, repo string) { h.a.requeue.WakeRepository(ctx, repo) }
