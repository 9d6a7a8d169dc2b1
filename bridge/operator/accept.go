package operator

import (
	"context"
	"fmt"
	"strings"

	"planbridge/bridge/identity"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/store"
)

// AcceptRepository accepts the present repository of a name in place of the former one. It asks
// GitHub where no event reported another one. It returns [store.ErrNotFound] where the name was
// never met, and [status.ErrState] where no other repository has it.
func (o *Operator) AcceptRepository(ctx context.Context, name string) error {
	if err := o.o.Process.Recognise(ctx, name); err != nil {
		return fmt.Errorf("accept repository %s: %w", name, err)
	}
	if err := o.accept(ctx, "repository", name, identity.DocRepository(name)); err != nil {
		return err
	}
	if err := o.forgetRename(ctx, name); err != nil {
		return err
	}
	if err := o.o.Process.Accepted(ctx, name); err != nil {
		return err
	}
	for _, project := range o.Projects() {
		if _, err := o.o.Store.Wake(ctx, project, reconcile.ServiceRepository(name), store.WakePerSecond); err != nil {
			return fmt.Errorf("accept repository %s: %w", name, err)
		}
	}
	o.o.Process.Kick()
	return nil
}

// AcceptAccount accepts the present account of a login. Errors are those of AcceptRepository.
func (o *Operator) AcceptAccount(ctx context.Context, login string) error {
	if err := o.accept(ctx, "account", login, identity.DocLogin(login)); err != nil {
		return err
	}
	return o.o.Process.Accepted(ctx, "")
}

func (o *Operator) accept(ctx context.Context, kind, name, doc string) error {
	known, err := identity.Read(ctx, o.o.Store, doc)
	switch {
	case err != nil:
		return fmt.Errorf("accept %s %s: %w", kind, name, err)
	case known.ID == 0 && known.Other == 0:
		return fmt.Errorf("%s %s: %w", kind, name, store.ErrNotFound)
	case known.Other == 0:
		return fmt.Errorf("%s %s is the one that it was when it was first seen (id %d), there is no other to accept: %w", kind, name, known.ID, status.ErrState)
	}
	next := identity.Record{ID: known.Other, Proven: true, Accepted: true, Private: known.Private}
	if err := identity.Put(ctx, o.o.Store, doc, next); err != nil {
		return fmt.Errorf("accept %s %s: %w", kind, name, err)
	}
	return nil
}

// forgetRename returns a route to its configured repository name, where it followed another
// repository.
func (o *Operator) forgetRename(ctx context.Context, name string) error {
	names, err := identity.Renames(ctx, o.o.Store)
	if err != nil {
		return fmt.Errorf("accept repository %s: %w", name, err)
	}
	configured := strings.ToLower(name)
	if _, renamed := names[configured]; !renamed {
		return nil
	}
	delete(names, configured)
	if err := identity.PutRenames(ctx, o.o.Store, names); err != nil {
		return fmt.Errorf("accept repository %s: %w", name, err)
	}
	return nil
}
