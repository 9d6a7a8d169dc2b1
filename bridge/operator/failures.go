package operator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// maxFailures bounds how many failures of a project are shown.
const maxFailures = 10_000

// projectAside is the project in the keys of failures that are no keys of the queue. These are
// items of a loop that this process set aside after a panic.
const projectAside = "aside"

// Failures lists the parked keys and the items that were set aside, oldest first. It includes those
// of projects that the configuration does not name.
func (o *Operator) Failures(ctx context.Context) ([]store.Failure, error) {
	var out []store.Failure
	projects, err := o.Everywhere(ctx)
	if err != nil {
		return nil, fmt.Errorf("list failures: %w", err)
	}
	for _, project := range projects {
		parked, err := o.o.Store.Failures(ctx, project, maxFailures)
		if err != nil {
			return nil, fmt.Errorf("list failures: %w", err)
		}
		out = append(out, parked...)
	}
	for _, f := range o.o.Guard.Failures() {
		out = append(out, store.Failure{
			Key: store.Key{Project: projectAside, Link: mapping.LinkID(f.What + " " + f.Item)}, Where: strings.TrimSpace(f.What + " " + f.Item),
			Reason: f.Reason, Attempts: f.Count, At: f.At,
		})
	}
	slices.SortStableFunc(out, func(a, b store.Failure) int { return a.At.Compare(b.At) })
	return out, nil
}

// Retry retries a key, named as failures shows it (project/link) or as an issue (acme/web#12), or
// "all". It returns their number. Keys of a project that the configuration does not name are left
// out, as nobody works them. A name of such keys alone is an error.
func (o *Operator) Retry(ctx context.Context, name string) (int, error) {
	failures, err := o.Failures(ctx)
	if err != nil {
		return 0, err
	}
	n, unnamed := 0, error(nil)
	for _, f := range failures {
		if name != "all" && name != f.Key.String() && name != string(f.Key.Link) && name != f.Where {
			continue
		}
		if f.Key.Project == projectAside { // its loop retries it by itself
			o.o.Guard.Forget(string(f.Key.Link))
			n++
			continue
		}
		if _, named := o.ProjectName(f.Key.Project); !named {
			unnamed = fmt.Errorf("retry %s: planning.projects does not name its project %s: %w", f.Where, f.Key.Project, status.ErrState)
			continue
		}
		if err := o.o.Store.Enqueue(ctx, f.Key, 0, false); err != nil {
			return n, fmt.Errorf("retry %s: %w", f.Where, err)
		}
		n++
	}
	if n == 0 && name != "all" {
		return 0, cmp.Or(unnamed, fmt.Errorf("failure %s: %w", name, store.ErrNotFound))
	}
	o.o.Process.Kick()
	return n, nil
}
