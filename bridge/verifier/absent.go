package verifier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// missingError says why an item cannot be compared.
type missingError struct {
	why  string
	gone bool // or moved; otherwise it may not be read
}

// Error implements error.
func (m *missingError) Error() string { return m.why }

// missing says why an item cannot be read. Where the service does not answer, err stays.
func missing(what string, err error) error {
	switch {
	case errors.Is(err, mapping.ErrNotFound), errors.Is(err, mapping.ErrGone):
		return &missingError{what + " is gone", true}
	case errors.Is(err, mapping.ErrMoved):
		return &missingError{what + " has moved", true}
	case errors.Is(err, mapping.ErrForbidden):
		return &missingError{what + " may not be read", false}
	}
	return err
}

// noticeAbsent makes the pairs due that lack an item. Without its delivery, neither a listing of
// the catch-up nor an event reports an issue that is deleted or transferred. The reconcile finds
// out where it is. A repository that refuses to be listed proves nothing.
func (v *run) noticeAbsent(ctx context.Context, differing map[store.Key]drift) error {
	for _, key := range inOrder(differing) {
		gone := slices.DeleteFunc(slices.Clone(differing[key].gone), func(p *mapping.Pair) bool { return !v.listed[strings.ToLower(p.Issue.Repo)] })
		if err := v.makeDue(ctx, key, gone); err != nil {
			return err
		}
	}
	return nil
}

// makeDue makes pairs of one link due for a whole read.
func (v *run) makeDue(ctx context.Context, key store.Key, pairs []*mapping.Pair) error {
	for _, p := range pairs {
		item := mapping.IssueRef(p.Issue.ID)
		look, err := json.Marshal(mapping.IssueEvent{Look: "verify", Item: item})
		if err != nil {
			return fmt.Errorf("look at %s: %w", p.Where(), err)
		}
		if _, err := v.Intake.Observe(ctx, key.Project, []store.Observation{{Refs: []mapping.Ref{item}, Event: look}}); err != nil {
			return err
		}
	}
	return nil
}
