package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"planbridge/bridge/status"
)

// progress shows the progress of a job: a bar on a terminal, a line now and then elsewhere. Both
// have the recent rate, the time left, and the obstacles with their ends.
type progress struct {
	w    io.Writer
	bar  *progressbar.ProgressBar // nil: lines
	last string
	next time.Time
	rate window
}

// lineEvery is how often a line of progress is printed at most.
const lineEvery = 5 * time.Second

func newProgress(w io.Writer) *progress {
	p := &progress{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(w), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	return p
}

// show records and shows the present progress.
func (p *progress) show(job status.Job) {
	if job.State != status.JobRunning {
		return
	}
	now := time.Now()
	p.rate.add(now, job.Done)
	if p.bar != nil {
		p.bar.Describe(job.Doing + p.rest(&job))
		if job.Total > 0 {
			p.bar.ChangeMax(job.Total)
			_ = p.bar.Set(job.Done) // a lost terminal does no harm
		}
		return
	}
	if p.next.IsZero() {
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
	}
	if text += p.rest(&job); text != p.last {
		fmt.Fprintln(p.w, text)
		p.last = text
	}
}

// rest is the rate, the time left, and the obstacles.
func (p *progress) rest(job *status.Job) (text string) {
	if rate := p.rate.rate(); rate > 0 && job.Total > job.Done {
		text = fmt.Sprintf(", %.1f a second, %s left", rate, seconds(float64(job.Total-job.Done)/rate))
	}
	var waits []string
	for _, w := range job.Waits {
		what := w.For
		if !w.Until.IsZero() {
			what += " until " + moment(w.Until)
		}
		waits = append(waits, what)
	}
	if len(job.Waits) == 0 {
		waits = job.WaitsFor
	}
	if len(waits) > 0 {
		text += "; waiting for " + strings.Join(waits, ", ")
	}
	return text
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// windowLength is the time over which the rate of a job is measured.
const windowLength = 30 * time.Second

// window has the recent progress of a job.
type window struct{ seen []sample }

type sample struct {
	at   time.Time
	done int
}

// add records the present progress.
func (w *window) add(now time.Time, done int) {
	w.seen = append(w.seen, sample{now, done})
	for len(w.seen) > 2 && now.Sub(w.seen[1].at) >= windowLength {
		w.seen = w.seen[1:]
	}
}

// rate is the number of items a second within the window; 0: none, or not known.
func (w *window) rate() float64 {
	if len(w.seen) < 2 {
		return 0
	}
	first, last := w.seen[0], w.seen[len(w.seen)-1]
	if took := last.at.Sub(first.at).Seconds(); took > 0 {
		return float64(last.done-first.done) / took
	}
	return 0
}
