// Package burndown keeps the burndown charts of a project's sprints.
//
// Its entry point is [Recorder]. It reads the charts of the active sprints every five minutes, and
// keeps the last charts of ended sprints. The function [Read] returns the kept charts.
package burndown

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"planbridge/bridge/clock"
	"planbridge/mapping"
	"planbridge/store"
)

const (
	// Every is the least time between two reads of charts, as they move by the hour and polls come
	// by the half-minute.
	Every = 5 * time.Minute
	// Kept bounds the charts of sprints that have ended.
	Kept = 20
)

// Charts reads the chart of a sprint. The Recorder fills in Sprint, Title, Active and Read.
type Charts interface {
	Burndown(ctx context.Context, sprint mapping.ObjectID) (mapping.Burndown, error)
}

// Documents keeps the charts, as the store does.
type Documents interface {
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
	PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error
}

// Sprint has the data of an active sprint that a chart needs. The chart is read anew when any of it
// changes.
type Sprint struct {
	ID         mapping.ObjectID
	Title      string
	Start, End time.Time
}

// Options configure a Recorder. All fields are required.
type Options struct {
	Project mapping.ObjectID
	Charts  Charts
	Store   Documents
	Clock   clock.Clock
	Logger  *slog.Logger
}

// Recorder records the charts of one project. It is not safe for concurrent use.
type Recorder struct {
	o      Options
	next   time.Time
	last   []Sprint // that were read last
	failed bool     // the last reading failed, and the log has it
}

// NewRecorder returns a Recorder.
func NewRecorder(o Options) *Recorder { return &Recorder{o: o} }

// Record reads the charts of the active sprints: every five minutes, and at once when other sprints
// became active or one was changed. A failure is logged once and not returned, since a service may
// have no charts.
func (r *Recorder) Record(ctx context.Context, active []Sprint) {
	now := r.o.Clock.Now()
	if now.Before(r.next) && slices.Equal(active, r.last) {
		return
	}
	r.next, r.last = now.Add(Every), active
	err := r.record(ctx, active)
	if err != nil && !r.failed && ctx.Err() == nil {
		r.o.Logger.Warn("burndowns could not be read; to be tried again", "after", Every.String(), "err", err)
	}
	r.failed = err != nil
}

// record stores the charts of the active sprints beside those that have ended.
func (r *Recorder) record(ctx context.Context, active []Sprint) error {
	before, err := Read(ctx, r.o.Store, r.o.Project)
	if err != nil {
		return err
	}
	if len(active) == 0 && !slices.ContainsFunc(before, func(b mapping.Burndown) bool { return b.Active }) {
		return nil
	}
	var charts []mapping.Burndown
	for _, s := range active {
		c, err := r.o.Charts.Burndown(ctx, s.ID)
		if err != nil {
			return fmt.Errorf("burndown of sprint %s: %w", s.ID, err)
		}
		c.Sprint, c.Title, c.Active, c.Read = s.ID, s.Title, true, r.o.Clock.Now().UTC()
		charts = append(charts, c)
	}
	return store.WriteJSON(ctx, r.o.Store, r.o.Project, store.DocBurndown, append(charts, ended(before, active)...))
}

// ended returns the kept charts of sprints that are not active now, the last read first.
func ended(before []mapping.Burndown, active []Sprint) []mapping.Burndown {
	old := slices.DeleteFunc(before, func(b mapping.Burndown) bool {
		return slices.ContainsFunc(active, func(s Sprint) bool { return s.ID == b.Sprint })
	})
	slices.SortStableFunc(old, func(a, b mapping.Burndown) int { return cmp.Compare(b.Read.Unix(), a.Read.Unix()) })
	old = old[:min(len(old), Kept)]
	for i := range old {
		old[i].Active = false
	}
	return old
}

// Read returns the charts of a project that are kept, active sprints first.
func Read(ctx context.Context, docs Documents, project mapping.ObjectID) ([]mapping.Burndown, error) {
	var charts []mapping.Burndown
	_, err := store.ReadJSON(ctx, docs, project, store.DocBurndown, &charts)
	return charts, err
}
