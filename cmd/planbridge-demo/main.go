// Command planbridge-demo shows planbridge to people who have neither a GitHub organisation nor a
// planning service at hand. It starts a simulator of each and a bridge between them, on the
// embedded store and over real HTTP. Then it plays a short scene.
//
// Each step prints a person's act on one side, its result on the other, and the time between them.
// It prints each line that changed, before and after. Then everything stays up, with commands to
// try. With --once it exits after the scene: 0 only if every step came true.
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
	dir, err := os.MkdirTemp("", "planbridge-demo-")
	if err != nil {
		fmt.Fprintln(errs, "planbridge-demo:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	world, err := stage(bridgetest.Options{Dir: dir, Logger: log, EnterDelay: 50 * time.Millisecond})
	if err != nil {
		fmt.Fprintln(errs, "planbridge-demo:", err)
		return 1
	}
	status := show(ctx, world, dir, out, errs, f)
	if err := world.Close(); err != nil {
		fmt.Fprintln(errs, "planbridge-demo: stop:", err)
		return 1
	}
	return status
}

// show plays the scene, and then waits unless --once is set. It returns the exit status.
func show(ctx context.Context, w *bridgetest.World, dir string, out, errs io.Writer, f flags) int {
	file, err := writeConfiguration(w, dir)
	if err != nil {
		fmt.Fprintln(errs, "planbridge-demo:", err)
		return 1
	}
	if !play(ctx, w, out, f.Patience) {
		return 1
	}
	if !f.Once && ctx.Err() == nil {
		fmt.Fprint(out, invitation(w, file))
		<-ctx.Done()
		fmt.Fprintln(out, "\nStopping.")
	}
	return 0
}
