// Command planbridge keeps GitHub issues and the cards and tasks of a planning service the same. It
// has the service itself (serve) and the commands for its operator.
//
// File main.go has flags, signals and exit statuses, and tests call [run]. File client.go finds the
// running service, or its store where none runs. Each command is in the file of its name.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"planbridge/config"
)

// The exit statuses.
const (
	exitOK      = 0
	exitFailure = 1 // something is wrong
	exitUsage   = 2 // usage, configuration, or a name that nothing has
)

// exitDeadline is when the process ends after a signal, whatever it is doing.
const exitDeadline = 14 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop() // from the first signal on the next one ends the process at once
		time.AfterFunc(exitDeadline, func() {
			fmt.Fprintf(os.Stderr, "planbridge: not at its end %v after the signal: the process ends now\n", exitDeadline)
			os.Exit(exitFailure)
		})
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.LookupEnv))
}

// commands is the command line.
type commands struct {
	Config string           `short:"c" placeholder:"FILE" default:"${config}" help:"The configuration (default: planbridge.yaml, or what PLANBRIDGE_CONFIG says)."`
	Print  kong.VersionFlag `name:"version" help:"Print the version."`

	Serve        serveCmd        `cmd:"" help:"Run the service."`
	Check        checkCmd        `cmd:"" help:"Prove the configuration against the live services."`
	Import       importCmd       `cmd:"" help:"Import what is older than the service: issues become cards, cards become issues."`
	Links        linksCmd        `cmd:"" help:"List which issue belongs to which card."`
	Queue        queueCmd        `cmd:"" help:"List what waits, until when and why: those that wait for a service, the longest first, then the others, the latest due first."`
	Failures     failuresCmd     `cmd:"" help:"List what was given up, or take it up again."`
	Conflicts    conflictsCmd    `cmd:"" help:"List the conflict ledger, answer what is asked, undo what was settled."`
	Explain      explainCmd      `cmd:"" help:"Show a link: what both sides last agreed on, and what was done to it."`
	Verify       verifyCmd       `cmd:"" help:"Compare every link on both sides, and say what differs."`
	Link         linkCmd         `cmd:"" help:"Link an issue and a card by hand."`
	Unlink       unlinkCmd       `cmd:"" help:"Part an issue and its card: nothing is synchronised, nothing deleted."`
	Move         moveCmd         `cmd:"" help:"Give the issues of a route new cards where the route leads now, in another project."`
	Decommission decommissionCmd `cmd:"" help:"Take off what planbridge made for a route, and part its pairs."`
	Erase        eraseCmd        `cmd:"" help:"Remove a link's texts from the store and the ledger, and keep the ids."`
	Pause        pauseCmd        `cmd:"" help:"Let a route's changes be taken and wait."`
	Resume       resumeCmd       `cmd:"" help:"End a route's pause."`
	Accept       acceptCmd       `cmd:"" help:"Believe the repository or account that has another one's name now."`
	Rebuild      rebuildCmd      `cmd:"" help:"Restore missing links from the markers on both sides, while the service runs."`
	Backup       backupCmd       `cmd:"" help:"Write everything the store holds to a file, while the service runs."`
	Restore      restoreCmd      `cmd:"" help:"Put a backup in the place of what the store holds, while no service runs."`
	CopyStore    copyStoreCmd    `cmd:"" help:"Copy a store to another one of either kind, while no service runs."`
	Export       exportCmd       `cmd:"" help:"Print links, history or the conflict ledger as CSV or lines of JSON."`
	Health       healthCmd       `cmd:"" help:"Ask the running service whether it is well; for a container's probe."`
	Version      versionCmd      `cmd:"" help:"Print the version."`
}

// process is a command's view of its process.
type process struct {
	stdout, stderr io.Writer
	env            func(string) (string, bool)
	config         string // path
}

// errReported ends a command whose output already names the fault.
var errReported = errors.New("something is wrong")

// misuse is an error of usage or configuration, or a name that nothing has.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// load reads the configuration.
func (p *process) load() (*config.Config, error) {
	c, err := config.Load(p.config, p.env)
	if err != nil {
		return nil, misuse{err}
	}
	return c, nil
}

// run is the program without its process: it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, env func(string) (string, bool)) int {
	var cli commands
	path, ok := env("PLANBRIDGE_CONFIG")
	if !ok || path == "" {
		path = "planbridge.yaml"
	}
	exited, status := false, exitOK // --help ends the program here, and kong goes on parsing
	parser, err := newParser(&cli, path, stdout, stderr, func(code int) { exited, status = true, code })
	if err != nil {
		return report(stderr, err)
	}
	command, err := parser.Parse(args)
	if exited {
		return status
	}
	if err == nil {
		err = checkWords(command)
	}
	if err != nil {
		return report(stderr, misuse{fmt.Errorf("%w (planbridge --help says more)", err)})
	}
	p := &process{stdout: stdout, stderr: stderr, env: env, config: cli.Config}
	command.BindTo(ctx, (*context.Context)(nil))
	return report(stderr, command.Run(p))
}

// newParser makes the parser of the command line; path is the configuration where it names none.
func newParser(cli *commands, path string, stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	return kong.New(cli,
		kong.Name("planbridge"),
		kong.Description("Keeps GitHub issues and the cards and tasks of a planning service the same, in both directions."),
		kong.Vars{"config": path, "version": thisProgram().String()},
		kong.Writers(stdout, stderr),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
}

// report prints an error, each of several faults on a line of its own, and
// returns the exit status that fits it.
func report(stderr io.Writer, err error) int {
	var faults config.Faults
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitFailure
	case errors.As(err, &faults): // each line names its file
		fmt.Fprintln(stderr, faults)
		return exitUsage
	}
	fmt.Fprintln(stderr, "planbridge:", strings.TrimSpace(err.Error()))
	if _, ok := errors.AsType[misuse](err); ok {
		return exitUsage
	}
	return exitFailure
}
