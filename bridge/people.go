package bridge

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/guard"
	"planbridge/bridge/identity"
	"planbridge/mapping"
	"planbridge/store"
)

// accountWithin bounds how long an event waits for GitHub to tell who has a login.
const accountWithin = 3 * time.Second

// people knows which account each login stands for that the configuration names, or
// that is the bridge's own. A login that another account has has no rights. It is safe
// for concurrent use.
type people struct {
	store  store.State
	client *github.Client
	log    *slog.Logger
	// named reports whether a login has rights at all.
	named func(login string) bool
	// renamed is told of an account, known by its id, that has another login now.
	renamed func(ctx context.Context, was, login string)

	asking  guard.Turn // held while an account that is met newly is judged
	mu      sync.Mutex
	byLogin map[string]identity.Record // by lower-case login
	byID    map[int64]string           // lower-case login
	asked   map[int64]time.Time        // when GitHub was asked because of an id
}

func newPeople(s store.State, c *github.Client, log *slog.Logger) *people {
	p := &people{asking: guard.NewTurn(), store: s, client: c, log: log, named: func(string) bool { return false }, renamed: func(context.Context, string, string) {}}
	p.forget()
	return p
}

// forget has everything read from the store anew.
func (p *people) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byLogin, p.byID, p.asked = map[string]identity.Record{}, map[int64]string{}, map[int64]time.Time{}
}

// recall reads what is remembered of a login.
func (p *people) recall(ctx context.Context, login string) (identity.Record, error) {
	login = strings.ToLower(login)
	p.mu.Lock()
	known, ok := p.byLogin[login]
	p.mu.Unlock()
	if ok {
		return known, nil
	}
	known, err := identity.Read(ctx, p.store, identity.DocLogin(login))
	if err != nil {
		return known, err
	}
	p.keep(login, known)
	return known, nil
}

func (p *people) keep(login string, known identity.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byLogin[strings.ToLower(login)] = known
	if known.ID != 0 {
		p.byID[known.ID] = strings.ToLower(login)
	}
}

func (p *people) put(ctx context.Context, login string, known identity.Record) error {
	if err := identity.Put(ctx, p.store, identity.DocLogin(login), known); err != nil {
		return err
	}
	p.keep(login, known)
	return nil
}

// Stranger reports whether another account has a login than the one that the login stood
// for when it was first seen.
func (g *githubSide) Stranger(login string) bool {
	p := g.people
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byLogin[strings.ToLower(login)].Other != 0
}

// Whose is that of the adapter, but for a login that another account has.
func (g *githubSide) Whose(login string) mapping.Whose {
	whose := g.Client.Whose(login)
	if whose.Perhaps() && g.Stranger(login) {
		return mapping.Theirs
	}
	return whose
}

// meet takes in an account that an event or an answer shows; id 0: it is not told.
func (p *people) meet(ctx context.Context, login string, id int64) {
	if id == 0 || login == "" {
		return
	}
	p.mu.Lock()
	known, was := p.byLogin[strings.ToLower(login)], p.byID[id]
	p.mu.Unlock()
	if known.ID == id && known.Other == 0 {
		return
	}
	if was != "" && !strings.EqualFold(was, login) && p.due(id) {
		p.renamed(ctx, was, login)
	}
	if !p.named(login) {
		return
	}
	if err := p.judge(ctx, login, id); err != nil {
		p.log.Warn("remembering which account has a login", "login", login, "err", err)
	}
}

// due reports whether GitHub may be asked because of an id: once in a while.
func (p *people) due(id int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked[id]) < doubtFor {
		return false
	}
	p.asked[id] = time.Now()
	return true
}

func (p *people) judge(ctx context.Context, login string, id int64) error {
	if err := p.asking.Take(ctx); err != nil {
		return err
	}
	defer p.asking.End()
	known, err := p.recall(ctx, login)
	switch {
	case err != nil:
		return err
	case known.ID == 0:
		return p.put(ctx, login, identity.Record{ID: id})
	case known.ID == id && known.Other == 0, known.Other == id, !p.due(id):
		return nil
	}
	return p.settle(ctx, login, known, id)
}

// settle asks GitHub who has a login that was shown with another id (id) than before, or
// with the one before after another. Where GitHub does not tell, what was shown stands.
func (p *people) settle(ctx context.Context, login string, known identity.Record, id int64) error {
	asking, cancel := context.WithTimeout(ctx, accountWithin)
	defer cancel()
	now, err := p.client.AccountID(asking, login)
	if err != nil || now == 0 {
		now = id
	}
	next := known
	switch {
	case now == known.ID && known.Other == 0:
		return nil // what was shown is old
	case now == known.ID:
		next.Other = 0
		p.log.Info("a login is back with the account that had it", "login", login, "id", now)
	default:
		next.Other = now
		p.log.Warn("a login of the configuration belongs to another account now and has no rights: if it is to be believed: planbridge accept account "+login,
			"login", login, "id", now, "known_id", known.ID)
	}
	return p.put(ctx, login, next)
}

// own takes in that GitHub names the bridge's own account.
func (p *people) own(ctx context.Context, login string, id int64) error {
	if id == 0 {
		return nil
	}
	known, err := p.recall(ctx, login)
	if err != nil || known.ID == id && known.Other == 0 {
		return err
	}
	return p.put(ctx, login, identity.Record{ID: id, Proven: true})
}

// hasRights reports whether a login has rights by the configuration, or is the bridge's
// own.
func (a *App) hasRights(login string) bool {
	set := a.set.Load()
	if _, ok := set.Users[strings.ToLower(login)]; ok {
		return true
	}
	for _, former := range set.config.GitHub.FormerAccounts {
		if strings.EqualFold(former, login) {
			return true
		}
	}
	own, _ := a.github.Known()
	return own != "" && strings.EqualFold(own, login)
}

// accountRenamed says that somebody of the configuration has another login. The
// bridge's own account is asked for anew.
func (a *App) accountRenamed(ctx context.Context, was, login string) {
	if own, how := a.github.Known(); how == mapping.Named && strings.EqualFold(own, was) {
		ctx, cancel := context.WithTimeout(ctx, accountWithin)
		defer cancel()
		if now, err := a.github.AskViewer(ctx); err == nil && !strings.EqualFold(now, was) {
			a.log.Warn("the bridge's own account has another login", "was", was, "account", now)
			if err := errors.Join(a.keepAccount(ctx), a.github.people.own(ctx, now, a.github.ViewerID())); err != nil {
				a.log.Warn("remembering the bridge's own account", "err", err)
			}
		}
		return
	}
	if a.hasRights(was) {
		a.log.Warn("an account has another login than the configuration names: it has its rights again when that names the new one", "was", was, "login", login)
	}
}

// recallPeople reads who the logins of the configuration are.
func (a *App) recallPeople(ctx context.Context) error {
	set := a.set.Load()
	for login := range mapping.Sorted(set.Users) {
		if _, err := a.github.people.recall(ctx, login); err != nil {
			return err
		}
	}
	for _, login := range set.config.GitHub.FormerAccounts {
		if _, err := a.github.people.recall(ctx, login); err != nil {
			return err
		}
	}
	return nil
}
