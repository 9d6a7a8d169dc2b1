// Package accounts knows the GitHub account of each login, and the bridge's own account.
package accounts

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/guard"
	"planbridge/bridge/identity"
)

// accountWithin bounds how long an event waits for GitHub to name the owner of a login.
const accountWithin = 3 * time.Second

// askEvery is the least time between two questions to GitHub about an account's id.
const askEvery = 30 * time.Second

// Users asks GitHub about accounts.
type Users interface {
	// AccountID returns the id of the account with a login; 0: GitHub does not tell.
	AccountID(ctx context.Context, login string) (int64, error)
}

// Rights are the rights of logins in the configuration.
type Rights interface {
	HasRights(login string) bool
	// LoginChanged reports that an account, known by its id, has another login now.
	LoginChanged(ctx context.Context, was, login string)
}

// People remembers the account of each configured login, and of the bridge's own. A login that
// another account took has no rights. It is safe for concurrent use.
type People struct {
	store  identity.Documents
	users  Users
	rights Rights
	log    *slog.Logger

	asking  guard.Turn // held while a new account is checked
	mu      sync.Mutex
	byLogin map[string]identity.Record // by lower-case login
	byID    map[int64]string           // lower-case login by id
	asked   map[int64]time.Time        // when GitHub was asked about an id
}

// NewPeople returns a People on the records in the store.
func NewPeople(s identity.Documents, users Users, rights Rights, log *slog.Logger) *People {
	p := &People{asking: guard.NewTurn(), store: s, users: users, rights: rights, log: log}
	p.Forget()
	return p
}

// Forget drops the cache, so that records are read from the store again.
func (p *People) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byLogin, p.byID, p.asked = map[string]identity.Record{}, map[int64]string{}, map[int64]time.Time{}
}

// recall reads a login's record.
func (p *People) recall(ctx context.Context, login string) (identity.Record, error) {
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

// Recall reads the records of logins, so that their accounts are known.
func (p *People) Recall(ctx context.Context, logins ...string) error {
	for _, login := range logins {
		if _, err := p.recall(ctx, login); err != nil {
			return err
		}
	}
	return nil
}

func (p *People) keep(login string, known identity.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byLogin[strings.ToLower(login)] = known
	if known.ID != 0 {
		p.byID[known.ID] = strings.ToLower(login)
	}
}

func (p *People) put(ctx context.Context, login string, known identity.Record) error {
	if err := identity.Put(ctx, p.store, identity.DocLogin(login), known); err != nil {
		return err
	}
	p.keep(login, known)
	return nil
}

// Stranger reports whether a login now belongs to another account than when it was first seen.
func (p *People) Stranger(login string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byLogin[strings.ToLower(login)].Other != 0
}

// Meet records an account in an event or an answer; id 0: unknown.
func (p *People) Meet(ctx context.Context, login string, id int64) {
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
		p.rights.LoginChanged(ctx, was, login)
	}
	if !p.rights.HasRights(login) {
		return
	}
	if err := p.judge(ctx, login, id); err != nil {
		p.log.Warn("remembering which account has a login", "login", login, "err", err)
	}
}

// due reports whether GitHub may be asked about an id again.
func (p *People) due(id int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked[id]) < askEvery {
		return false
	}
	p.asked[id] = time.Now()
	return true
}

func (p *People) judge(ctx context.Context, login string, id int64) error {
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
	return p.confirmLogin(ctx, login, known, id)
}

// confirmLogin asks GitHub who has a login that was seen with a new id, or with its former id after
// another one. Where GitHub does not tell, the seen id counts.
func (p *People) confirmLogin(ctx context.Context, login string, known identity.Record, id int64) error {
	asking, cancel := context.WithTimeout(ctx, accountWithin)
	defer cancel()
	now, err := p.users.AccountID(asking, login)
	if err != nil || now == 0 {
		now = id
	}
	next := known
	switch {
	case now == known.ID && known.Other == 0:
		return nil // the event was old
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

// own records GitHub's answer about the bridge's own account.
func (p *People) own(ctx context.Context, login string, id int64) error {
	if id == 0 {
		return nil
	}
	known, err := p.recall(ctx, login)
	if err != nil || known.ID == id && known.Other == 0 {
		return err
	}
	return p.put(ctx, login, identity.Record{ID: id, Proven: true})
}
