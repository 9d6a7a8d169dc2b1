package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// The bridge has to tell what it made and wrote from what people did. GitHub
// names the bridge's account; where it will not, the answer to the first issue
// or comment that the bridge makes does (mapping.Answered), and until then
// signed markers and the values of pending records tell. Nothing waits long for
// any of it.

// docAccount names the document that holds the bridge's own login, for the next
// start; byAnswer follows where an answer named it and not GitHub when asked.
const (
	docAccount = "account"
	byAnswer   = " (by an answer)"
)

const (
	// accountPatience is how long work waits for GitHub to name the account.
	accountPatience = 3 * time.Second
	// accountTimeout bounds one attempt to ask, and accountPause is the longest
	// time between two.
	accountTimeout = 20 * time.Second
	accountPause   = time.Minute
)

// ownAccount is what the start waits for.
type ownAccount struct {
	settled chan struct{} // closed once the account is known or is not waited for any more
	once    sync.Once
	without sync.Once // settled without GitHub's word
}

func newOwnAccount() ownAccount { return ownAccount{settled: make(chan struct{})} }

func (o *ownAccount) settle() { o.once.Do(func() { close(o.settled) }) }

// accountSettled waits until work can begin; false: it never will.
func (a *App) accountSettled(ctx context.Context) bool {
	patience := time.NewTimer(accountPatience)
	defer patience.Stop()
	select {
	case <-a.account.settled:
	case <-patience.C:
		a.withoutAccount(errors.New("it has not answered yet"))
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// learnAccount asks GitHub for the bridge's account until it says which it is,
// or that it will not.
func (a *App) learnAccount(ctx context.Context) {
	for wait := bootPause; ; wait = min(2*wait, accountPause) {
		err := a.askAccount(ctx)
		switch {
		case err == nil:
			a.account.settle()
			return
		case ctx.Err() != nil:
			return
		case mapping.Refused(err):
			a.withoutAccount(err)
			return
		case errors.Is(err, mapping.ErrUnavailable) && a.sameAsLast(ctx, err):
			return
		}
		if _, how := a.github.Known(); how != mapping.Unknown {
			a.withoutAccount(err) // nobody has to wait
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// askAccount asks once, and keeps what was told.
func (a *App) askAccount(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	login, err := a.github.Viewer(ctx)
	if err != nil {
		return err
	}
	a.log.Info("acting on GitHub", "account", login)
	if err := errors.Join(a.keepAccount(ctx), a.github.people.own(ctx, login, a.github.ViewerID())); err != nil {
		a.log.Warn("remembering the bridge's own account", "err", err)
	}
	return nil
}

// sameAsLast lets work begin as the account that GitHub named at an earlier
// start, if it did: GitHub is away.
func (a *App) sameAsLast(ctx context.Context, why error) bool {
	login, err := a.store.Doc(ctx, "", docAccount)
	if err != nil || strings.HasSuffix(string(login), byAnswer) {
		return false
	}
	a.github.Assume(string(login))
	a.log.Warn("GitHub is away: acting as the account of the last start", "account", string(login), "err", why)
	a.account.settle()
	return true
}

// recallAccount takes the account of an earlier start for the bridge's own until
// GitHub says which it is. A store that has lost it is told.
func (a *App) recallAccount(ctx context.Context) error {
	if _, how := a.github.Known(); how != mapping.Unknown {
		return a.keepAccount(ctx)
	}
	login, err := a.store.Doc(ctx, "", docAccount)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("recall the bridge's own account: %w", err)
	}
	a.github.Learn(strings.TrimSuffix(string(login), byAnswer))
	return nil
}

// withoutAccount lets work begin though GitHub does not name the account.
func (a *App) withoutAccount(why error) {
	a.account.without.Do(func() { a.actUnnamed(why) })
	a.account.settle()
}

func (a *App) actUnnamed(why error) {
	if login, how := a.github.Known(); how != mapping.Unknown {
		a.log.Info("GitHub does not name the bridge's own account: acting as the one known from earlier", "account", login, "err", why)
		return
	}
	a.log.Warn("GitHub does not name the bridge's own account: its issues are told by their markers until an answer to a write names it; "+
		"give a token whose GET /user (or GraphQL viewer) is answered, or name the login in github.former_accounts", "err", why)
}

// keepAccount makes what is known of the account durable.
func (a *App) keepAccount(ctx context.Context) error {
	login, how := a.github.Known()
	if how == mapping.Answered {
		login += byAnswer
	}
	known, err := a.store.Doc(ctx, "", docAccount)
	if how == mapping.Unknown || err == nil && string(known) == login {
		return nil
	}
	if err == nil || errors.Is(err, store.ErrNotFound) {
		err = a.store.PutDoc(ctx, "", docAccount, []byte(login))
	}
	if err != nil {
		return fmt.Errorf("keep the bridge's own account: %w", err)
	}
	return nil
}

// answeredAs takes in the account that made something with a request of ours.
func (a *App) answeredAs(ctx context.Context, login string) {
	if !a.github.Learn(login) {
		return
	}
	a.log.Info("an answer names the bridge's own account", "account", login)
	if err := a.keepAccount(ctx); err != nil {
		a.log.Warn("the next start will not know the account", "err", err)
	}
}
