package retention

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// UnusedFor is how long nothing must need a name before its documents are removed.
const UnusedFor = 90 * 24 * time.Hour

// setUnused names the set of marks that has, for each document, the day since which nothing needs
// it.
const setUnused = "unused"

// Names are the names in links.
type Names struct {
	Repositories map[string]bool // in lower case
	Routes       map[string]bool
	// Tasks are the tasks on the cards of synchronised links.
	Tasks map[mapping.ObjectID]bool
}

// Family is the documents of one kind. Each has a name of the prefix and its subject.
type Family struct {
	Project mapping.ObjectID // the project of their space; "": none
	Prefix  string
	// Needed reports whether something needs a document at p.now.
	Needed func(ctx context.Context, name string) (bool, error)
}

// carried collects, once in a pass, the names in the links of all projects, configured or not.
func (p *pass) carried(ctx context.Context) (Names, error) {
	if p.names.Routes != nil {
		return p.names, nil
	}
	names := Names{map[string]bool{}, map[string]bool{}, map[mapping.ObjectID]bool{}}
	for _, project := range p.projects {
		for cursor, begun := "", false; cursor != "" || !begun; begun = true {
			if err := ctx.Err(); err != nil {
				return names, err
			}
			links, next, err := p.o.Store.List(ctx, project, cursor, store.LinksPage)
			if err != nil {
				return names, err
			}
			for _, l := range links {
				names.collect(l)
			}
			cursor = next
		}
	}
	p.names = names
	return names, nil
}

func (n Names) collect(l *mapping.Link) {
	n.Routes[l.Route] = true
	for _, pair := range l.Issues() {
		n.Repositories[strings.ToLower(pair.Issue.Repo)] = true
		n.Repositories[strings.ToLower(pair.Away)] = true
		if pair.IsTask() && pair.State == mapping.Linked {
			n.Tasks[pair.Card.ID] = true
		}
	}
	if l.State != mapping.Linked {
		return
	}
	for _, c := range l.Children {
		if c.State == mapping.Linked {
			n.Tasks[c.Card.ID] = true
		}
	}
}

// forget removes the documents of names that nothing needed for [UnusedFor]. A name is needed
// while it is configured, exists, or is in a link: the document keeps later owners of the name
// from being trusted. A name needed again in time keeps its document. After that it counts as
// new.
func (p *pass) forget(ctx context.Context) error {
	names, err := p.carried(ctx)
	if err != nil {
		return err
	}
	bySpace := map[mapping.ObjectID][]Family{}
	for _, f := range p.o.Needs.Families(ctx, names) {
		bySpace[f.Project] = append(bySpace[f.Project], f)
	}
	for _, space := range append([]mapping.ObjectID{""}, p.projects...) {
		if err := p.forgetIn(ctx, space, bySpace[space]); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) forgetIn(ctx context.Context, space mapping.ObjectID, families []Family) error {
	marks, err := p.o.Store.Marks(ctx, space, setUnused)
	if err != nil {
		return err
	}
	since, idle := store.MarkTexts(marks), map[string]string{}
	for _, f := range families {
		docs, err := p.o.Store.Docs(ctx, space, f.Prefix)
		if err != nil {
			return err
		}
		for _, doc := range docs {
			stays, err := p.unused(ctx, f, doc, since[doc])
			if err != nil {
				return err
			}
			if stays != "" {
				idle[doc] = stays
			}
		}
	}
	return p.keepDays(ctx, space, setUnused, since, idle)
}

// keepDays updates the marks of a set from since to idle.
func (p *pass) keepDays(ctx context.Context, space mapping.ObjectID, set string, since, idle map[string]string) error {
	var over []string // marks of documents that are needed again, or gone
	for id, day := range mapping.Sorted(since) {
		if idle[id] == "" {
			over = append(over, id)
		} else if idle[id] == day {
			delete(idle, id)
		}
	}
	if err := p.o.Store.PutMarks(ctx, space, set, idle); err != nil {
		return err
	}
	return p.o.Store.DropMarks(ctx, space, set, over)
}

// unused returns the day since which nothing needs a document; "": it is needed, or was removed.
func (p *pass) unused(ctx context.Context, f Family, doc, since string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	needed, err := f.Needed(ctx, strings.TrimPrefix(doc, f.Prefix))
	if err != nil || needed {
		return "", err
	}
	day, err := time.Parse(time.DateOnly, since)
	if err != nil || day.After(p.now) {
		return p.now.Format(time.DateOnly), nil
	}
	if p.now.Sub(day) < UnusedFor {
		return since, nil
	}
	data, err := p.o.Store.Doc(ctx, f.Project, doc)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	dropped, err := p.o.Store.DropDoc(ctx, f.Project, doc, data)
	if err != nil {
		return "", fmt.Errorf("forget %s: %w", doc, err)
	}
	if dropped {
		p.o.Logger.Info("a document is removed: nothing needed it for long", "document", doc, "project", f.Project, "since", since)
	}
	return "", nil
}
