package poll

import (
	"context"
	"fmt"
	"strings"

	"planbridge/store"
)

// docAdopted names the document, in the space of no project, that says for
// which epoch a repository's own issues were listed.
func docAdopted(repo string) string { return adoptedDocs + strings.ToLower(repo) }

// unreadable is added to the epoch where a repository could not be read.
const unreadable = " unreadable"

// adopt lets the project create things once GitHub's side has been looked
// through for this epoch of the store, as planning's has been when it is called
// (see the package comment).
func (p *Poller) adopt(ctx context.Context) error {
	for _, route := range p.o.Routes().All() {
		if route.Project != p.o.Project || !route.Exact() {
			continue
		}
		doc, err := p.doc(ctx, "", docAdopted(route.Repository))
		if err != nil {
			return err
		}
		if !strings.HasPrefix(string(doc), p.epoch) {
			p.o.Logger.Info("nothing is created yet: the repository has not been looked through", "repo", route.Repository)
			return nil
		}
	}
	if err := p.o.Store.PutDoc(ctx, p.o.Project, store.DocAdopted, []byte(p.epoch)); err != nil {
		return fmt.Errorf("store document %s: %w", store.DocAdopted, err)
	}
	p.o.Logger.Info("adopted: everything marked has been seen")
	p.left.tell(ctx, p.o.Logger)
	return nil
}
