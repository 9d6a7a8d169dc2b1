package randomtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
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
	v, job, err := c.askImport(ctx, ask)
	for err == nil && job.State == status.JobRunning {
		time.Sleep(time.Second) // virtual
		now := status.Job{}
		err = v.Ask(ctx, http.MethodGet, "/api/v1/jobs/"+job.ID, nil, &now)
		job = now
	}
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
