// Command planbridge-demo shows what planbridge does, to somebody who has
// neither a GitHub organisation nor a planning service at hand: it starts a
// simulator of each and a bridge between them, on the embedded store and over
// real HTTP, and plays a short scene.
//
// Each step prints what a person did on one side, what came of it on the
// other, and how long that took. Then everything stays up, with three curl
// lines to try. With --once it exits after the scene: 0 only if every step
// came true.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"planbridge/bridge/bridgetest"
)

type flags struct {
	Once     bool          `help:"Exit after the scene; status 0 only if every step came true."`
	Verbose  bool          `short:"v" help:"Show the bridge's own log."`
	Patience time.Duration `default:"20s" help:"How long a step may take."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is main without the process around it; it returns the exit status.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	var f flags
	parser, err := kong.New(&f, kong.Name("planbridge-demo"),
		kong.Description("Shows planbridge at work between a simulated GitHub and a simulated planning service."), kong.Writers(out, errs))
	if err != nil {
		fmt.Fprintln(errs, err)
		return 2
	}
	if _, err := parser.Parse(args); err != nil {
		fmt.Fprintln(errs, "planbridge-demo:", err)
		return 2
	}
	log := slog.New(slog.DiscardHandler)
	if f.Verbose {
		log = slog.New(slog.NewTextHandler(errs, nil))
	}
	world, err := stage(bridgetest.Options{Logger: log, EnterDelay: 50 * time.Millisecond})
	if err != nil {
		fmt.Fprintln(errs, "planbridge-demo:", err)
		return 1
	}
	came := play(ctx, world, out, f.Patience)
	if came && !f.Once && ctx.Err() == nil {
		invite(world, out)
		<-ctx.Done()
		fmt.Fprintln(out, "\nStopping.")
	}
	if err := world.Close(); err != nil {
		fmt.Fprintln(errs, "planbridge-demo: stop:", err)
		return 1
	}
	if !came {
		return 1
	}
	return 0
}

// invite says what a reader can try by hand.
func invite(w *bridgetest.World, out io.Writer) {
	fmt.Fprintf(out, `
Everything stays up until you press Ctrl-C. Try (each shows on the other side within a second):

  # what both sides hold
  curl -s -H 'Authorization: Bearer %[1]s' %[2]s/repos/%[3]s/issues?state=all
  # open an issue, as somebody with a browser would, and look for its card
  curl -s -H 'Authorization: Bearer %[7]s' -d '{"title":"From curl","body":"Hello, planning"}' %[2]s/repos/%[3]s/issues
  curl -s -H 'Authorization: secret %[4]s' %[5]s/api/projects/%[6]s/backlog/items

  status page: %[8]s/    metrics: %[8]s/metrics
`, bridgetest.Token, w.GitHub.URL(), bridgetest.RepoName, w.Project.Secret(), w.Planning.URL(), w.Project.ID(), personToken, w.AdminURL())
}
