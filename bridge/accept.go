package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/store"
)

// AcceptRepository has the repository believed that has a name now, in place of the one
// that the name stood for. [store.ErrNotFound] where the name was never met,
// [status.ErrState] where no other repository has it.
func (o *Operator) AcceptRepository(ctx context.Context, name string) error {
	if err := o.accept(ctx, "repository", name, docRepository(name)); err != nil {
		return err
	}
	if err := o.forgetRename(ctx, name); err != nil {
		return err
	}
	if err := o.accepted(ctx, name); err != nil {
		return err
	}
	for _, project := range o.set().projects() {
		if _, err := o.store.Wake(ctx, project, reconcile.ServiceRepository(name), wakePerSecond); err != nil {
			return fmt.Errorf("accept repository %s: %w", name, err)
		}
	}
	o.kick()
	return nil
}

// AcceptAccount has the account believed that has a login now. Errors are those of
// AcceptRepository.
func (o *Operator) AcceptAccount(ctx context.Context, login string) error {
	if err := o.accept(ctx, "account", login, docLogin(login)); err != nil {
		return err
	}
	return o.accepted(ctx, "")
}

func (o *Operator) accept(ctx context.Context, kind, name, doc string) error {
	known, err := readIdentity(ctx, o.store, doc)
	switch {
	case err != nil:
		return fmt.Errorf("accept %s %s: %w", kind, name, err)
	case known.ID == 0 && known.Other == 0:
		return fmt.Errorf("%s %s: %w", kind, name, store.ErrNotFound)
	case known.Other == 0:
		return fmt.Errorf("%s %s is the one that it was when it was first seen (id %d), there is no other to accept: %w", kind, name, known.ID, status.ErrState)
	}
	next := identity{ID: known.Other, Proven: true, Accepted: true, Private: known.Private}
	if err := putIdentity(ctx, o.store, doc, next); err != nil {
		return fmt.Errorf("accept %s %s: %w", kind, name, err)
	}
	return nil
}

// forgetRename lets a route go back to the name that the configuration gives it, where
// it followed another repository.
func (o *Operator) forgetRename(ctx context.Context, name string) error {
	data, err := o.store.Doc(ctx, "", docRenamed)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	names := map[string]string{}
	if err == nil {
		err = json.Unmarshal(data, &names)
	}
	if _, renamed := names[strings.ToLower(name)]; err == nil && !renamed {
		return nil
	}
	delete(names, strings.ToLower(name))
	if err == nil {
		data, err = json.Marshal(names)
	}
	if err == nil {
		err = o.store.PutDoc(ctx, "", docRenamed, data)
	}
	if err != nil {
		return fmt.Errorf("accept repository %s: %w", name, err)
	}
	return nil
}

// accepted takes over in this process what an operator has accepted.
func (a *App) accepted(ctx context.Context, repo string) error {
	a.github.people.forget()
	if repo == "" {
		return nil
	}
	a.github.repositories.forget(repo)
	return a.followRenames(ctx)
}
