package bridge_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"planbridge/bridge"
	"planbridge/config"
)

// An App is made, started and stopped. It stays up while GitHub and planning are away, as they
// are here.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "planbridge-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	c, err := config.Parse([]byte(`
server: {listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0"}
github: {api_url: "http://127.0.0.1:1", webhook_secrets: [env:HOOK], token: env:TOKEN}
planning:
  base_url: http://127.0.0.1:1
  projects:
    web: {id: 54744060c955ca8169c61ee6, secret: env:PROJECT, username: bridge}
store: {url: "file:`+dir+`/planbridge.db"}
marker_key: env:KEY
routes:
  - {repository: acme/web, project: web, bucket: Incoming}
`), "planbridge.yaml", func(name string) (string, bool) { return "the-secret-of-" + name, true })
	if err != nil {
		panic(err)
	}

	app, err := bridge.New(bridge.Options{Config: c, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	if err := app.Start(context.Background()); err != nil {
		panic(err)
	}
	answer, err := http.Get("http://" + app.AdminAddr() + "/healthz")
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	fmt.Print(answer.Status, ": ", string(text))
	answer.Body.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := app.Stop(context.Background()); err != nil {
		panic(err)
	}
	// Output: 200 OK: ok
}
