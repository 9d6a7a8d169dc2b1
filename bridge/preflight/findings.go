package preflight

import (
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
)

// Level is the severity of a [Finding].
type Level string

// The levels of findings.
const (
	LevelOK    Level = "ok"
	LevelWarn  Level = "warn"  // works, or cannot be checked
	LevelFault Level = "fault" // does not work
)

// Finding is one result of a check.
type Finding struct {
	Level Level  `json:"level"`
	Place string `json:"place"`
	Words string `json:"words"`
	// away: the service did not answer, which proves nothing.
	away bool
	// refuses is the service that refuses the secret, in the form in which keys name services.
	refuses string
}

// findings collects the results for one place.
type findings struct {
	place string
	now   time.Time // when it began
	list  []Finding
}

func (f *findings) add(l Level, format string, args ...any) {
	f.list = append(f.list, Finding{Level: l, Place: f.place, Words: fmt.Sprintf(format, args...)})
}

func (f *findings) ok(format string, args ...any)    { f.add(LevelOK, format, args...) }
func (f *findings) warn(format string, args ...any)  { f.add(LevelWarn, format, args...) }
func (f *findings) fault(format string, args ...any) { f.add(LevelFault, format, args...) }

// refused adds a fault: a service refuses the secret.
func (f *findings) refused(service, format string, args ...any) {
	f.fault(format, args...)
	f.list[len(f.list)-1].refuses = service
}

// away adds a fault that another service causes: it does not answer, or accepts no more
// requests for a while. The format says what follows from that.
func (f *findings) away(err error, format string, args ...any) {
	if limited, ok := errors.AsType[*mapping.RateLimited](err); ok {
		until := f.now.Add(limited.After + time.Minute - 1).Truncate(time.Minute) // many places say the same
		f.fault("it was not looked at: %s takes no more requests until %s (%s)", limited.Service(), until.UTC().Format(time.RFC3339), limited.Why)
	} else {
		f.fault(format+": %v", append(args, err)...)
	}
	f.list[len(f.list)-1].away = true
}
