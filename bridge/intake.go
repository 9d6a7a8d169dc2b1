package bridge

import (
	"context"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/webhook"
	"planbridge/mapping"
)

// decoder verifies and reads deliveries as the GitHub adapter does.
type decoder struct{}

func (decoder) Verify(secrets, body [][]byte, header string) (int, error) {
	return github.VerifySignature(secrets, body, header)
}

func (decoder) Payload(contentType string, body []byte) ([]byte, error) {
	return github.Payload(contentType, body)
}

func (decoder) Parse(name string, payload []byte) (webhook.Event, error) {
	return parseEvent(name, payload)
}

// intakeHost is the program as the intake of deliveries sees it.
type intakeHost struct{ a *App }

func (h intakeHost) Trust() *webhook.Trust           { return h.a.set.Load().trust }
func (h intakeHost) Routes() mapping.Routes          { return h.a.set.Load().Routes }
func (h intakeHost) Scheme() mapping.LabelScheme     { return h.a.set.Load().Scheme }
func (h intakeHost) Keys() mapping.Keys              { return h.a.set.Load().Keys }
func (h intakeHost) FirstRun(route string) time.Time { return h.a.firstRun(route) }

func (h intakeHost) Whose(login string) mapping.Whose { return h.a.github.Whose(login) }

func (h intakeHost) Met(ctx context.Context, login string, id int64) {
	h.a.delivered(ctx, login, id)
}

func (h intakeHost) OtherInstallation(owner string, id int64) bool {
	return h.a.github.OtherInstallation(owner, id)
}

func (h intakeHost) Released(ctx context.Context, issue *mapping.Issue) (bool, error) {
	return h.a.github.Released(ctx, issue)
}

func (h intakeHost) Believes(ctx context.Context, repo string, id int64) (bool, error) {
	return h.a.believesEvent(ctx, repo, id)
}

func (h intakeHost) Visible(ctx context.Context, repo string, public bool) {
	h.a.visible(ctx, repo, public)
}

func (h intakeHost) Renamed(ctx context.Context, from, to string) error {
	return h.a.renameTold(ctx, from, to)
}

func (h intakeHost) Writable(ctx context.Context, repo string) { h.a.writable(ctx, repo) }
