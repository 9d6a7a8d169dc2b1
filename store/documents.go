package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"planbridge/mapping"
)

type docReader interface {
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
}

type docWriter interface {
	PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error
}

// ReadDoc returns a document, or nil where there is none.
func ReadDoc(ctx context.Context, s docReader, project mapping.ObjectID, name string) ([]byte, error) {
	data, err := s.Doc(ctx, project, name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("read document %s: %w", name, err)
	}
	return data, nil
}

// ReadJSON reads a document into v, and reports whether there is one. It leaves v unchanged where
// there is none.
func ReadJSON(ctx context.Context, s docReader, project mapping.ObjectID, name string, v any) (found bool, err error) {
	data, err := ReadDoc(ctx, s, project, name)
	if err != nil || data == nil {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return true, fmt.Errorf("read document %s: %w", name, err)
	}
	return true, nil
}

// WriteDoc stores a document.
func WriteDoc(ctx context.Context, s docWriter, project mapping.ObjectID, name string, data []byte) error {
	if err := s.PutDoc(ctx, project, name, data); err != nil {
		return fmt.Errorf("store document %s: %w", name, err)
	}
	return nil
}

// WriteJSON stores plain data of this module as a document.
func WriteJSON(ctx context.Context, s docWriter, project mapping.ObjectID, name string, v any) error {
	return WriteDoc(ctx, s, project, name, Encode(v))
}

// Encode encodes plain data of this module, which always has a JSON form.
func Encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("store: encode: " + err.Error())
	}
	return data
}

// Mark is the polls' record of an item: a short text under the item's id.
type Mark struct {
	ID, Text string
}

// MarkTexts returns the texts of marks by their ids.
func MarkTexts(marks []Mark) map[string]string {
	texts := make(map[string]string, len(marks))
	for _, m := range marks {
		texts[m.ID] = m.Text
	}
	return texts
}

// MarksCards names the set of marks for the cards that polls have seen.
const MarksCards = "cards"

// DocAdopted names the document of a project with an epoch: in that epoch a full poll has seen
// and adopted every marked item. While it differs from the store's epoch, nothing is created in
// the project.
const DocAdopted = "adopted"

// DocsRepositoryAdopted is the prefix of the names that DocRepositoryAdopted returns.
const DocsRepositoryAdopted = "adopted:"

// DocRepositoryAdopted names a document, in the space of no project, about a listing of a
// repository's issues that planbridge made. It says for which epoch and projects they were listed.
// It holds a [RepositoryAdopted].
func DocRepositoryAdopted(repo string) string {
	return DocsRepositoryAdopted + strings.ToLower(repo)
}

// RepositoryAdopted is the content of the document that [DocRepositoryAdopted] names.
type RepositoryAdopted struct {
	Epoch      string
	Unreadable bool // GitHub refused to list the repository
	// Projects are the projects, as configured then, whose links the markers could restore. nil: an
	// earlier release wrote the document, which counts for every project.
	Projects []mapping.ObjectID
}

// unreadable stands behind the epoch of a repository that could not be listed.
const unreadable = "unreadable"

// ParseRepositoryAdopted reads a document; one that is empty names no epoch.
func ParseRepositoryAdopted(doc []byte) (a RepositoryAdopted) {
	for i, word := range strings.Fields(string(doc)) {
		switch {
		case i == 0:
			a.Epoch = word
		case word == unreadable:
			a.Unreadable = true
		default:
			a.Projects = append(a.Projects, mapping.ObjectID(word))
		}
	}
	return a
}

// ReadRepositoryAdopted reads a repository's document; without one it names no epoch.
func ReadRepositoryAdopted(ctx context.Context, s docReader, repo string) (RepositoryAdopted, error) {
	doc, err := ReadDoc(ctx, s, "", DocRepositoryAdopted(repo))
	return ParseRepositoryAdopted(doc), err
}

// Encode is the document.
func (a RepositoryAdopted) Encode() []byte {
	words := []string{a.Epoch}
	if a.Unreadable {
		words = append(words, unreadable)
	}
	for _, p := range a.Projects {
		words = append(words, string(p))
	}
	return []byte(strings.Join(words, " "))
}

// For reports whether the repository was listed, or refused to be, for a project's links in an epoch.
func (a RepositoryAdopted) For(epoch string, project mapping.ObjectID) bool {
	return a.Epoch == epoch && (a.Projects == nil || slices.Contains(a.Projects, project))
}

// DocImporting names the document of a project that says until when an import will observe more
// keys. It holds a time as [time.Time.MarshalText] writes it. A past time says that no import
// runs.
const DocImporting = "importing"

// DocSprints names the document of a project with its sprints as the last poll saw them: a JSON
// array of [mapping.Sprint].
const DocSprints = "sprints"

// DocBurndown names the document of a project with the charts of its sprints: a JSON array of
// [mapping.Burndown], active sprints first.
const DocBurndown = "burndown"
