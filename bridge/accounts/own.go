package accounts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/identity"
	"planbridge/mapping"
	"planbridge/store"
)

// The bridge must distinguish its own writes from people's. GitHub names the bridge's account.
// Where it refuses, the answer to the bridge's first issue or comment does (mapping.Answered).
// Until then signed markers and the values of pending records identify our writes. Nothing waits
// long for this.

// docAccount names the document with the bridge's own login, for the next start. The suffix
// byAnswer marks a login from an answer, not from GitHub's own word.
const (
	docAccount = "account"
	byAnswer   = " (by an answer)"
)

const (
	// accountPatience is how long work waits for GitHub to name the account.
	accountPatience = 3 * time.Second
	// accountTimeout bounds one request, and accountPause the longest time between two.
	accountTimeout = 20 * time.Second
	accountPause   = time.Minute
	firstPause     = time.Second
)

// GitHub knows the bridge's own account.
type GitHub interface {
	// Viewer returns the login that GitHub names, and keeps it; AskViewer asks anew.
	Viewer(ctx context.Context) (string, error)
	AskViewer(ctx context.Context) (string, error)
	// ViewerID is the id that GitHub gave with the login; 0: none.
	ViewerID() int64
	// Assume sets the bridge's login until GitHub tells it. Learn sets it where none is known.
	Assume(login string)
	Learn(login string) bool
	// Known returns the login, and how it is known.
	Known() (login string, how mapping.Authorship)
}

// OwnOptions configure an [Own]. All fields are required.
type OwnOptions struct {
	Store  identity.Documents
	GitHub GitHub
	People *People
	Logger *slog.Logger
}

// Own is the bridge's own account, for which work waits at the start.
type Own struct {
	options OwnOptions
	settled chan struct{} // closed once the account is known or work no longer waits
	once    sync.Once
	without sync.Once // logs once that work began without GitHub's word
}

// NewOwn makes an Own without a known account.
func NewOwn(o OwnOptions) *Own { return &Own{options: o, settled: make(chan struct{})} }

// Settle lets work begin.
func (o *Own) Settle() { o.once.Do(func() { close(o.settled) }) }

// Ready waits until the account is known or work no longer waits.
func (o *Own) Ready(ctx context.Context) error {
	select {
	case <-o.settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Await waits a moment until work can begin; false: it never will.
func (o *Own) Await(ctx context.Context) bool {
	patience := time.NewTimer(accountPatience)
	defer patience.Stop()
	select {
	case <-o.settled:
	case <-patience.C:
		o.Without(errors.New("it has not answered yet"))
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// Run asks GitHub for the bridge's account until GitHub names it or refuses.
func (o *Own) Run(ctx context.Context) {
	for wait := firstPause; ; wait = min(2*wait, accountPause) {
		err := o.ask(ctx)
		switch {
		case err == nil:
			o.Settle()
			return
		case ctx.Err() != nil:
			return
		case mapping.Refused(err):
			o.Without(err)
			return
		case errors.Is(err, mapping.ErrUnavailable) && o.sameAsLast(ctx, err):
			return
		}
		if _, how := o.options.GitHub.Known(); how != mapping.Unknown {
			o.Without(err) // nothing may wait for it
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// ask asks GitHub once, and stores the answer.
func (o *Own) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	login, err := o.options.GitHub.Viewer(ctx)
	if err != nil {
		return err
	}
	o.options.Logger.Info("acting on GitHub", "account", login)
	if err := errors.Join(o.keep(ctx), o.options.People.own(ctx, login, o.options.GitHub.ViewerID())); err != nil {
		o.options.Logger.Warn("remembering the bridge's own account", "err", err)
	}
	return nil
}

// sameAsLast lets work begin with the account of an earlier start, if there was one, while GitHub
// is away.
func (o *Own) sameAsLast(ctx context.Context, why error) bool {
	login, err := o.options.Store.Doc(ctx, "", docAccount)
	if err != nil || strings.HasSuffix(string(login), byAnswer) {
		return false
	}
	o.options.GitHub.Assume(string(login))
	o.options.Logger.Warn("GitHub is away: acting as the account of the last start", "account", string(login), "err", why)
	o.Settle()
	return true
}

// Recall uses the account of an earlier start until GitHub names it. It stores the account again
// where the store lost it.
func (o *Own) Recall(ctx context.Context) error {
	if _, how := o.options.GitHub.Known(); how != mapping.Unknown {
		return o.keep(ctx)
	}
	login, err := store.ReadDoc(ctx, o.options.Store, "", docAccount)
	if err != nil {
		return fmt.Errorf("recall the bridge's own account: %w", err)
	}
	o.options.GitHub.Learn(strings.TrimSuffix(string(login), byAnswer))
	return nil
}

// Without lets work begin without GitHub's word on the account.
func (o *Own) Without(why error) {
	o.without.Do(func() { o.actUnnamed(why) })
	o.Settle()
}

func (o *Own) actUnnamed(why error) {
	if login, how := o.options.GitHub.Known(); how != mapping.Unknown {
		o.options.Logger.Info("GitHub does not name the bridge's own account: acting as the one known from earlier", "account", login, "err", why)
		return
	}
	o.options.Logger.Warn("GitHub does not name the bridge's own account: its issues are told by their markers until an answer to a write names it; "+
		"give a token whose GET /user (or GraphQL viewer) is answered, or name the login in github.former_accounts", "err", why)
}

// keep stores the known account.
func (o *Own) keep(ctx context.Context) error {
	login, how := o.options.GitHub.Known()
	if how == mapping.Answered {
		login += byAnswer
	}
	known, err := o.options.Store.Doc(ctx, "", docAccount)
	if how == mapping.Unknown || err == nil && string(known) == login {
		return nil
	}
	if err == nil || errors.Is(err, store.ErrNotFound) {
		err = o.options.Store.PutDoc(ctx, "", docAccount, []byte(login))
	}
	if err != nil {
		return fmt.Errorf("keep the bridge's own account: %w", err)
	}
	return nil
}

// AnsweredAs reports the author of an item that our request made.
func (o *Own) AnsweredAs(ctx context.Context, login string) {
	if !o.options.GitHub.Learn(login) {
		return
	}
	o.options.Logger.Info("an answer names the bridge's own account", "account", login)
	if err := o.keep(ctx); err != nil {
		o.options.Logger.Warn("the next start will not know the account", "err", err)
	}
}

// LoginChanged reports that an account has another login. It returns whether that is the bridge's
// own, for which it then asks GitHub again.
func (o *Own) LoginChanged(ctx context.Context, was string) bool {
	own, how := o.options.GitHub.Known()
	if how != mapping.Named || !strings.EqualFold(own, was) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, accountWithin)
	defer cancel()
	if now, err := o.options.GitHub.AskViewer(ctx); err == nil && !strings.EqualFold(now, was) {
		o.options.Logger.Warn("the bridge's own account has another login", "was", was, "account", now)
		if err := errors.Join(o.keep(ctx), o.options.People.own(ctx, now, o.options.GitHub.ViewerID())); err != nil {
			o.options.Logger.Warn("remembering the bridge's own account", "err", err)
		}
	}
	return true
}
