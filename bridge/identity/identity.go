// Package identity remembers what the names of the configuration stand for.
//
// The configuration names repositories and accounts; GitHub gives a name that is free to
// whoever asks for it. What has a name when the bridge first sees it is remembered by its
// database id, and another one that has it later is believed only when an operator says so.
package identity

import (
	"context"
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
	_, err := store.ReadJSON(ctx, s, "", doc, &known)
	return known, err
}

// Put stores a record.
func Put(ctx context.Context, s Documents, doc string, known Record) error {
	return store.WriteJSON(ctx, s, "", doc, known)
}

// docRenamed names the document that says which repositories are called otherwise than
// the configuration calls them: lower-case name there to name now. Routes are by name;
// one that names a repository as it was called before follows it until the configuration
// is changed, even if another repository takes the old name meanwhile.
const docRenamed = "renamed"

// Renames returns the names of now by the lower-case names of the configuration; nil
// where nothing was renamed yet.
func Renames(ctx context.Context, s Documents) (map[string]string, error) {
	var names map[string]string
	_, err := store.ReadJSON(ctx, s, "", docRenamed, &names)
	return names, err
}

// PutRenames stores the names of now.
func PutRenames(ctx context.Context, s Documents, names map[string]string) error {
	return store.WriteJSON(ctx, s, "", docRenamed, names)
}
