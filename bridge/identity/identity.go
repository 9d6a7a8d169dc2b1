// Package identity remembers what the names of the configuration stand for.
//
// The configuration names repositories and accounts; GitHub gives a name that is free to
// whoever asks for it. What has a name when the bridge first sees it is remembered by its
// database id, and another one that has it later is believed only when an operator says so.
package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// Documents keeps what is remembered.
type Documents interface {
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
	PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error
}

// Record is the document that remembers what a name stands for.
type Record struct {
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

// DocRepository and DocLogin name the documents, in the space of no project, that
// hold the records of a repository's name and of an account's login.
func DocRepository(name string) string { return "repository:" + strings.ToLower(name) }

// DocLogin is the login's, see DocRepository.
func DocLogin(login string) string { return "login:" + strings.ToLower(login) }

// Read returns the zero record where nothing is remembered.
func Read(ctx context.Context, s Documents, doc string) (Record, error) {
	var known Record
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

// Put stores a record.
func Put(ctx context.Context, s Documents, doc string, known Record) error {
	data, err := json.Marshal(known)
	if err == nil {
		err = s.PutDoc(ctx, "", doc, data)
	}
	if err != nil {
		return fmt.Errorf("store document %s: %w", doc, err)
	}
	return nil
}

// docRenamed names the document that says which repositories are called otherwise than
// the configuration calls them: lower-case name there to name now. Routes are by name;
// one that names a repository as it was called before follows it until the configuration
// is changed, even if another repository takes the old name meanwhile.
const docRenamed = "renamed"

// Renames returns the names of now by the lower-case names of the configuration; nil
// where nothing was renamed yet.
func Renames(ctx context.Context, s Documents) (map[string]string, error) {
	data, err := s.Doc(ctx, "", docRenamed)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	var names map[string]string
	if err == nil {
		err = json.Unmarshal(data, &names)
	}
	if err != nil {
		return nil, fmt.Errorf("read renames: %w", err)
	}
	return names, nil
}

// PutRenames stores the names of now.
func PutRenames(ctx context.Context, s Documents, names map[string]string) error {
	data, err := json.Marshal(names)
	if err == nil {
		err = s.PutDoc(ctx, "", docRenamed, data)
	}
	if err != nil {
		return fmt.Errorf("store renames: %w", err)
	}
	return nil
}
