package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"planbridge/bridge/status"
)

type importCmd struct {
	output
	leased
	Route  string  `placeholder:"NAME" help:"Only this route."`
	DryRun bool    `help:"Say what would be done, and write nothing."`
	Match  *string `placeholder:"title" enum:"title" help:"Before anything is made look for partners: join an issue and a card that have the same title, where each is the only one."`
	State  string  `placeholder:"open|all" enum:"open,all" default:"open" help:"Which issues to take: open ones, or closed ones, too."`
}

// Help is what planbridge import --help adds.
func (c *importCmd) Help() string {
	return `An import takes what is older than the service: issues that nobody touched since a route began to run become cards, and old cards
of a route that makes issues become issues. It runs in the service, behind all live changes; where no service runs, this command is
one until the import is done. It may be interrupted, run again, and run twice, at any moment: nothing is made twice. Issues are made within
two thirds of GitHub's write budget; --dry-run says how long that takes.`
}

// Run implements the command.
func (c *importCmd) Run(ctx context.Context, p *process) error {
	return withServices(ctx, p, servicing{looks: c.DryRun, lease: c.Lease}, func(api *client) error {
		ask := status.ImportAsk{Route: c.Route, DryRun: c.DryRun, State: c.State}
		if c.Match != nil {
			ask.Match = *c.Match
		}
		progress := newProgress(p.stderr)
		job, err := api.follow(ctx, "/api/v1/import", ask, progress.show)
		progress.end()
		if err != nil {
			return err
		}
		if err := c.print(p, job, func() error { return importReport(p.stdout, &job) }); err != nil {
			return err
		}
		switch {
		case job.State == status.JobFailed:
			return fmt.Errorf("%s", job.Error)
		case job.Import.Failed > 0:
			return errTold
		}
		return nil
	})
}

func importReport(w io.Writer, job *status.Job) error {
	r := job.Import
	fmt.Fprintf(w, "%d issues and cards seen, %d linked already\n", r.Seen, r.Known-r.UnderWay)
	verb := "became"
	if r.DryRun {
		verb = "would become"
	}
	for _, line := range []struct {
		n     int
		words string
	}{
		{r.Cards, "issues " + verb + " cards"}, {r.Issues, "cards " + verb + " issues"}, {r.Joined, "pairs " + map[bool]string{true: "would be joined", false: "joined"}[r.DryRun]},
		{r.UnderWay, "were under way before" + map[bool]string{true: "", false: ", and were waited for"}[r.DryRun]},
		{r.Children, "sub-issues follow their parents"}, {r.Ambiguous, "left alone: more than one has the title"}, {r.Out, "issues stay out: " + reasons(r.OutWhy)},
		{r.Handed, "sub-issues were handed to their parents, to become tasks"},
		{r.Dropped, "were not to be imported any more when their turn came"}, {r.Failed, "given up (planbridge failures)"},
	} {
		if line.n > 0 {
			fmt.Fprintf(w, "%d %s\n", line.n, line.words)
		}
	}
	if r.Forecast >= 1 && r.DryRun {
		fmt.Fprintf(w, "GitHub's write budget makes the new issues take %s\n", seconds(r.Forecast))
	}
	if len(r.Items) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := newTable(w, "ITEM", "WHAT", "PARTNER", "ROUTE", "TITLE", "WHY")
	for _, i := range r.Items {
		t.row(i.Where, i.What, i.Partner, i.Route, brief(i.Title), i.Why)
	}
	if r.More {
		t.row("…")
	}
	return t.flush()
}

// reasons lists why issues stay out, and how many each keeps.
func reasons(why map[string]int) string {
	var out []string
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		out = append(out, fmt.Sprintf("%s (%d)", oneLine(reason), why[reason]))
	}
	return strings.Join(out, ", ")
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}

// progress shows how far a job is: a bar with its rate and the time left on a
// terminal, a line now and then elsewhere.
type progress struct {
	w    io.Writer
	bar  *progressbar.ProgressBar // nil: lines
	last string
	next time.Time
}

// lineEvery is how often a line of progress is printed at most.
const lineEvery = 5 * time.Second

func newProgress(w io.Writer) *progress {
	p := &progress{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(w), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	return p
}

// show takes in where the job is now.
func (p *progress) show(job status.Job) {
	if job.State != status.JobRunning {
		return
	}
	if p.bar != nil {
		p.bar.Describe(strings.Join(append([]string{job.Doing}, job.WaitsFor...), ", waiting for "))
		if job.Total > 0 {
			p.bar.ChangeMax(job.Total)
			_ = p.bar.Set(job.Done) // a terminal that is gone is nobody's loss
		}
		return
	}
	if now := time.Now(); p.next.IsZero() {
		p.next = now.Add(lineEvery)
	} else if now.Before(p.next) {
		return
	} else {
		p.next = now.Add(lineEvery)
		p.line(job)
	}
}

func (p *progress) line(job status.Job) {
	text := job.Doing
	if job.Total > 0 {
		text += fmt.Sprintf(": %d of %d", job.Done, job.Total)
		if since := time.Since(job.Started).Seconds(); job.Done > 0 && since > 0 {
			rate := float64(job.Done) / since
			text += fmt.Sprintf(", %.1f a second, %s left", rate, seconds(float64(job.Total-job.Done)/rate))
		}
	}
	if len(job.WaitsFor) > 0 {
		text += "; waiting for " + strings.Join(job.WaitsFor, ", ")
	}
	if text != p.last {
		fmt.Fprintln(p.w, text)
		p.last = text
	}
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
