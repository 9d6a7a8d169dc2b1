package bridgetest

import (
	"context"
	"strings"

	"planbridge/bridge"
	"planbridge/config"
)

// AddReplica starts one more bridge on the world's store, with a webhook of its own; edit changes
// its configuration; nil: no change. Close stops it, unless the test did.
func (w *World) AddReplica(edit func(yaml string) string) (*bridge.App, error) {
	yaml := strings.Replace(w.YAML(), w.listen, "127.0.0.1:0", 1)
	if edit != nil {
		yaml = edit(yaml)
	}
	c, err := config.Parse([]byte(yaml), "planbridge.yaml", w.Env)
	if err != nil {
		return nil, err
	}
	app, err := w.startApp(c)
	if err != nil {
		return nil, err
	}
	w.replicas = append(w.replicas, app)
	remove := w.remove
	w.remove = func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopWait)
		defer cancel()
		_ = app.Stop(ctx) // the world ignores the error of a replica's end
		remove()
	}
	w.GitHub.AddHook(RepoName, "http://"+app.Addr()+"/webhooks/github", WebhookSecret)
	return app, nil
}
