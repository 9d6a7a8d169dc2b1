package randomtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/status"
)

// Imports in the random run in virtual time: operators ask a bridge that runs, and never
// wait for it. The job ends with its bridge where that is stopped or killed.

// drawImports says whether there is something older than the bridge, and makes it.
func (c *chaos) drawImports() {
	if c.sim != nil {
		if one := c.trait(30); one != nil {
			m := newOperators(one.Rand)
			m.turn = one
			c.past(m, one.Rand)
		}
		return
	}
	if !importSeed(c.seed) {
		return
	}
	r := rand.New(rand.NewPCG(c.seed, 12))
	m := newOperators(r)
	log, err := os.Create(filepath.Join(c.dir, "imports.log"))
	if err != nil {
		c.t.Fatal(err)
	}
	m.log = log
	c.past(m, r)
}

// askImport asks one of the bridges that runs for an import, and returns its job. Whether
// it began is not known where the answer is lost.
func (c *chaos) askImport(ctx context.Context, ask status.ImportAsk) (v *virtual, job status.Job, err error) {
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, job, err
	}
	c.people.did(nil, "operator: import --state %s --match %q", ask.State, ask.Match)
	c.imports.done.begins(ask.State)
	for _, p := range c.bridges {
		v = p.(*virtual)
		if err = v.Ask(ctx, http.MethodPost, "/api/v1/import", body, &job); err == nil {
			break
		}
	}
	return v, job, err
}

// lastAsked is an import that nothing disturbs, and that is awaited.
func (c *chaos) lastAsked(ctx context.Context) []complaint {
	ask := c.imports.draw(c.imports.turn.Rand)
	job, err := awaited(ctx, func(ctx context.Context) (asker, status.Job, error) { return c.askImport(ctx, ask) })
	if err == nil && job.State != status.JobDone {
		err = fmt.Errorf("job %s: %s", job.State, job.Error)
	}
	if err != nil {
		return []complaint{{what: fmt.Sprintf("the import does not end well: %v", err)}}
	}
	c.imports.done.ends(ask.State)
	c.people.did(nil, "operator: the import is done")
	return nil
}

// asker is a bridge that answers operators.
type asker interface {
	Ask(ctx context.Context, method, path string, body []byte, into any) error
}

// awaited asks for a job, and awaits its end. A bridge answers with the job that runs already, where
// the request is the same. That job goes by what it saw before. So it ends first, and another one is
// asked for.
func awaited(ctx context.Context, ask func(context.Context) (asker, status.Job, error)) (status.Job, error) {
	for {
		asked := time.Now()
		of, job, err := ask(ctx)
		for err == nil && job.State == status.JobRunning {
			time.Sleep(time.Second) // virtual
			now := status.Job{}
			err = of.Ask(ctx, http.MethodGet, "/api/v1/jobs/"+job.ID, nil, &now)
			job = now
		}
		if err != nil || !job.Started.Before(asked) {
			return job, err
		}
	}
}

// oneJob is a bridge with a job that runs at the first ask, and has ended when it is looked at.
type oneJob struct{ now status.Job }

func (o *oneJob) Ask(_ context.Context, _, _ string, _ []byte, into any) error {
	o.now.State = status.JobDone
	*into.(*status.Job) = o.now
	return nil
}

// TestLastImportSawTheEnd: a job that began while the repository was public goes by that.
func TestLastImportSawTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bridge := &oneJob{now: status.Job{ID: "before", State: status.JobRunning, Started: time.Now().Add(-time.Minute)}}
		job, err := awaited(t.Context(), func(context.Context) (asker, status.Job, error) {
			if bridge.now.State == status.JobDone {
				bridge.now = status.Job{ID: "after", State: status.JobRunning, Started: time.Now()}
			}
			return bridge, bridge.now, nil
		})
		if job.ID != "after" || job.State != status.JobDone || err != nil {
			t.Errorf("the awaited job is %+v, %v: want the one that began after the ask, done", job, err)
		}
	})
}
