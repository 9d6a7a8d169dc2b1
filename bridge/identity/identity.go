// Package identity remembers the repositories and accounts behind the configuration's names.
//
// GitHub gives a free name to anybody who asks for it. The package stores the database id behind
// a name when the bridge first sees it. A later owner of the name counts only after an operator
// accepts it.
package identity

import (
	"context"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// Documents stores the records.
type Documents interface {
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
	PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error
}

// Record is the document about the repository or account behind a name.
type Record struct {
	ID int64 `json:"id"`
	// Proven says that GitHub confirmed the id. Until then it comes from an event.
	Proven bool `json:"proven,omitempty"`
	// Accepted says that an operator accepted it in place of an earlier owner of the name.
	Accepted bool `json:"accepted,omitempty"`
	// Other is the id of a present owner that is not accepted; 0: none.
	Other int64 `json:"other,omitempty"`
	// Private is the visibility of a repository by an event; nil: none.
	Private *bool `json:"private,omitempty"`
}

// DocRepository and DocLogin name the documents, in the space of no project, with the records of
// a repository's name and of an account's login.
func DocRepository(name string) string { return "repository:" + strings.ToLower(name) }

// DocLogin names the document of a login; see DocRepository.
func DocLogin(login string) string { return "login:" + strings.ToLower(login) }

// Read returns a record, the zero record where there is none.
func Read(ctx context.Context, s Documents, doc string) (Record, error) {
	var known Record
	_, err := store.ReadJSON(ctx, s, "", doc, &known)
	return known, err
}

// Put stores a record.
func Put(ctx context.Context, s Documents, doc string, known Record) error {
	return store.WriteJSON(ctx, s, "", doc, known)
}

// docRenamed names the document with renamed repositories: from the configuration's lower-case
// name to the present name. A route follows its renamed repository until the configuration
// changes, even if another repository takes the old name.
const docRenamed = "renamed"

// Renames returns the present names by the configuration's lower-case names; nil where there was
// no rename.
func Renames(ctx context.Context, s Documents) (map[string]string, error) {
	var names map[string]string
	_, err := store.ReadJSON(ctx, s, "", docRenamed, &names)
	return names, err
}

// PutRenames stores the present names.
func PutRenames(ctx context.Context, s Documents, names map[string]string) error {
	return store.WriteJSON(ctx, s, "", docRenamed, names)
}
