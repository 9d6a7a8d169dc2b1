package poll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
)

// doc reads a document; nil where there is none.
func (p *Poller) doc(ctx context.Context, space mapping.ObjectID, name string) ([]byte, error) {
	data, err := p.o.Store.Doc(ctx, space, name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("read document %s: %w", name, err)
	}
	return data, nil
}

// readDoc reads a document of the project; v stays as it is where there is none.
func (p *Poller) readDoc(ctx context.Context, name string, v any) error {
	data, err := p.doc(ctx, p.o.Project, name)
	if err != nil || len(data) == 0 {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("read document %s: %w", name, err)
	}
	return nil
}

// putDoc stores a document of the project.
func (p *Poller) putDoc(ctx context.Context, name string, data []byte) error {
	if err := p.o.Store.PutDoc(ctx, p.o.Project, name, data); err != nil {
		return fmt.Errorf("store document %s: %w", name, err)
	}
	return nil
}

// putMarks stores what is remembered of items of a set.
func (p *Poller) putMarks(ctx context.Context, set string, marks map[string]string) error {
	if len(marks) == 0 {
		return nil
	}
	if err := p.o.Store.PutMarks(ctx, p.o.Project, set, marks); err != nil {
		return fmt.Errorf("mark %d %s: %w", len(marks), set, err)
	}
	return nil
}

// encode is for plain data of this module, which always has a JSON form.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("poll: encode: " + err.Error())
	}
	return data
}
