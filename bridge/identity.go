package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"planbridge/store"
)

// The configuration names repositories and accounts; GitHub gives a name that is
// free to whoever asks for it. What has a name when the bridge first sees it is
// remembered by its database id, and another one that has it later is believed only
// when an operator says so.

// identity is the document that remembers what a name stands for.
type identity struct {
	ID int64 `json:"id"`
	// Proven says that GitHub answered so. An event alone is believed until then.
	Proven bool `json:"proven,omitempty"`
	// Accepted says that an operator took it for the one that the name stood for
	// before.
	Accepted bool `json:"accepted,omitempty"`
	// Other is what has the name now and is not believed; 0: nothing.
	Other int64 `json:"other,omitempty"`
	// Private is what an event told of a repository; nil: none did.
	Private *bool `json:"private,omitempty"`
}

// docRepository and docLogin name the documents, in the space of no project, that
// hold the identities of a repository's name and of an account's login.
func docRepository(name string) string { return "repository:" + strings.ToLower(name) }
func docLogin(login string) string     { return "login:" + strings.ToLower(login) }

// readIdentity returns the zero identity where nothing is remembered.
func readIdentity(ctx context.Context, s store.State, doc string) (identity, error) {
	var known identity
	data, err := s.Doc(ctx, "", doc)
	if errors.Is(err, store.ErrNotFound) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &known)
	}
	if err != nil {
		return known, fmt.Errorf("read document %s: %w", doc, err)
	}
	return known, nil
}

func putIdentity(ctx context.Context, s store.State, doc string, known identity) error {
	data, err := json.Marshal(known)
	if err == nil {
		err = s.PutDoc(ctx, "", doc, data)
	}
	if err != nil {
		return fmt.Errorf("store document %s: %w", doc, err)
	}
	return nil
}
