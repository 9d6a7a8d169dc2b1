package metrics

import (
	"context"
	"sync"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/mapping"
)

const (
	// scrapeWait is how long a scrape waits for its reads.
	scrapeWait = 2 * time.Second
	// readingTimeout bounds one read.
	readingTimeout = 10 * time.Second
	// maxReadingAge bounds the age of a shown value.
	maxReadingAge = 5 * time.Minute
)

// reading is the last value of a source.
type reading[T any] struct {
	value T
	at    time.Time
}

// readings asks one source for each project. It remembers the last value of each, and asks no
// source that has not answered yet.
type readings[T any] struct {
	guard *guard.Guard
	clock clock.Clock
	what  string
	read  func(ctx context.Context, project mapping.ObjectID) (T, error)

	mu    sync.Mutex
	last  map[mapping.ObjectID]reading[T]
	asked map[mapping.ObjectID]chan struct{} // closed when the source answered
}

// ask returns the values of the projects' sources. It waits a moment, and then uses earlier
// values. It omits projects without any value.
func (r *readings[T]) ask(projects []mapping.ObjectID) map[mapping.ObjectID]reading[T] {
	patience := time.NewTimer(scrapeWait)
	defer patience.Stop()
	var answers []chan struct{}
	for _, project := range projects {
		answers = append(answers, r.begin(project))
	}
	for _, answer := range answers {
		select {
		case <-answer:
		case <-patience.C:
			patience.Reset(0)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[mapping.ObjectID]reading[T]{}
	for _, project := range projects {
		if last, known := r.last[project]; known && r.clock.Now().Sub(last.at) < maxReadingAge {
			out[project] = last
		}
	}
	return out
}

// begin asks a project's source, unless it is being asked.
func (r *readings[T]) begin(project mapping.ObjectID) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if asked := r.asked[project]; asked != nil {
		return asked
	}
	if r.asked == nil {
		r.asked, r.last = map[mapping.ObjectID]chan struct{}{}, map[mapping.ObjectID]reading[T]{}
	}
	answer := make(chan struct{})
	r.asked[project] = answer
	r.guard.Spawn(nil, r.what, func() {
		var value T
		err := r.guard.Do(r.what, string(project), func() (err error) {
			ctx, cancel := context.WithTimeout(context.Background(), readingTimeout)
			defer cancel()
			value, err = r.read(ctx, project)
			return err
		})
		r.mu.Lock()
		defer r.mu.Unlock()
		if delete(r.asked, project); err == nil {
			r.last[project] = reading[T]{value, r.clock.Now()}
		}
		close(answer)
	})
	return answer
}
