package githubtest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// account is a user, an organization or an App's bot.
type account struct {
	id    int64
	login string
	kind  string // User, Organization or Bot
}

type token struct {
	text     string
	login    string
	readOnly bool
	scopes   string
	repos    []string // full names in lower case; empty: all
	app      *App     // the installation it belongs to
	revoked  bool
	expires  time.Time // zero: never
	core     hour      // of REST
	graphql  hour
}

// hour is a token's use of a primary limit.
type hour struct {
	used  int
	reset time.Time // when used starts again
}

// TokenOption restricts a token.
type TokenOption func(*token)

// ReadOnly takes push access from a token.
func ReadOnly() TokenOption { return func(t *token) { t.readOnly = true } }

// Scopes sets what X-OAuth-Scopes answers; without it: "repo, admin:repo_hook".
// Fine-grained tokens have "".
func Scopes(scopes ...string) TokenOption {
	return func(t *token) { t.scopes = strings.Join(scopes, ", ") }
}

// OnlyRepos limits a token to the named repositories; all others answer 404
// where private, and refuse writes.
func OnlyRepos(names ...string) TokenOption {
	return func(t *token) {
		for _, n := range names {
			t.repos = append(t.repos, lower(n))
		}
	}
}

// AddUser makes a user with the given login; people are made at their first act.
func (s *Server) AddUser(login string) { s.locked(func() { s.account(login, "User") }) }

// AddOrg makes an organization; the owner of a repository that is no user is
// made one.
func (s *Server) AddOrg(login string) { s.locked(func() { s.account(login, "Organization") }) }

// AddToken makes text a token of the user login, with push access to every
// repository unless an option says otherwise.
func (s *Server) AddToken(text, login string, opts ...TokenOption) {
	s.locked(func() {
		s.account(login, "User")
		t := &token{text: text, login: login, scopes: "repo, admin:repo_hook"}
		for _, o := range opts {
			o(t)
		}
		s.tokens[text] = t
	})
}

// RevokeToken makes a token answer 401 from now on.
func (s *Server) RevokeToken(text string) {
	s.locked(func() {
		if t := s.tokens[text]; t != nil {
			t.revoked = true
		}
	})
}

// App is a GitHub App with one installation on the organization or user Owner.
type App struct {
	ID           int64
	Installation int64
	Slug         string
	Owner        string
	PrivateKey   []byte // PEM, PKCS #1; it signs the App's JWT

	key *rsa.PublicKey
}

// Login is the account that the App acts as.
func (a *App) Login() string { return a.Slug + "[bot]" }

// AddApp makes a GitHub App that is installed on owner, with push access to
// all of its repositories.
func (s *Server) AddApp(slug, owner string) *App {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic("githubtest: app key: " + err.Error())
	}
	a := &App{Slug: slug, Owner: owner, key: &key.PublicKey, PrivateKey: pem.EncodeToMemory(
		&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})}
	s.locked(func() {
		a.ID, a.Installation = s.nextID(), s.nextID()
		s.account(a.Login(), "Bot")
		s.account(owner, "Organization")
		s.apps = append(s.apps, a)
	})
	return a
}

// account finds or makes an account.
func (s *Server) account(login, kind string) *account {
	if a := s.accounts[lower(login)]; a != nil {
		return a
	}
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot" // GitHub lets no person have such a login
	}
	a := &account{id: s.nextID(), login: login, kind: kind}
	s.accounts[lower(login)] = a
	return a
}

// RenameAccount gives an account another login, under which all that it made is shown from then on;
// its id stays. A later user of the old login is another account, with an id of its own.
func (s *Server) RenameAccount(old, now string) {
	s.locked(func() {
		a := s.accounts[lower(old)]
		if a == nil || s.accounts[lower(now)] != nil {
			panic("githubtest: rename account " + old + " to " + now)
		}
		delete(s.accounts, lower(old))
		a.login, s.accounts[lower(now)] = now, a
		rename := func(login *string) {
			if strings.EqualFold(*login, old) {
				*login = now
			}
		}
		for _, t := range s.tokens {
			rename(&t.login)
		}
		for _, r := range s.repos {
			for _, i := range r.issues {
				i.renameAccount(rename)
			}
		}
	})
}

// renameAccount lets an issue name an account by another login.
func (i *issue) renameAccount(rename func(*string)) {
	rename(&i.author)
	rename(&i.closedBy)
	i.assignees = slices.Clone(i.assignees)
	for n := range i.assignees {
		rename(&i.assignees[n])
	}
	for _, c := range i.comments {
		rename(&c.author)
	}
	for _, e := range i.events {
		rename(&e.actor)
	}
}

func (s *Server) user(login string) *account { return s.account(login, "User") }

// identity is the account that makes a request.
type identity struct {
	login string
	token *token
	app   *App // set for an App's own JWT
}

func (id identity) anonymous() bool { return id.token == nil && id.app == nil }

// identify answers who the Authorization header names; !ok: bad credentials.
func (s *Server) identify(h http.Header) (id identity, ok bool) {
	value := h.Get("Authorization")
	if value == "" {
		return identity{}, true
	}
	_, text, _ := strings.Cut(value, " ")
	if strings.Count(text, ".") == 2 {
		a := s.verifyJWT(text)
		return identity{app: a}, a != nil
	}
	t := s.tokens[text]
	if t == nil || t.revoked || (!t.expires.IsZero() && !s.now().Before(t.expires)) {
		return identity{}, false
	}
	return identity{login: t.login, token: t}, true
}

// verifyJWT answers the App whose RS256 signature a JWT carries, or nil.
func (s *Server) verifyJWT(text string) *App {
	signed, sig, _ := cutLast(text, ".")
	_, payload, _ := strings.Cut(signed, ".")
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return nil
	}
	var claims struct {
		Issuer  any   `json:"iss"`
		Expires int64 `json:"exp"`
	}
	if json.Unmarshal(raw, &claims) != nil {
		return nil
	}
	signature, err := base64.RawURLEncoding.DecodeString(sig)
	if err != nil || claims.Expires <= time.Now().Unix() {
		return nil
	}
	issuer := fmt.Sprint(claims.Issuer)
	if f, isNumber := claims.Issuer.(float64); isNumber {
		issuer = fmt.Sprintf("%.0f", f)
	}
	digest := sha256.Sum256([]byte(signed))
	for _, a := range s.apps {
		if fmt.Sprint(a.ID) == issuer && rsa.VerifyPKCS1v15(a.key, crypto.SHA256, digest[:], signature) == nil {
			return a
		}
	}
	return nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// reaches says whether a token was given access to r at all.
func (t *token) reaches(r *Repo) bool {
	if t.app != nil && !strings.EqualFold(t.app.Owner, r.owner.login) {
		return false
	}
	return len(t.repos) == 0 || slices.Contains(t.repos, lower(r.fullName()))
}

func (s *Server) canRead(id identity, r *Repo) bool {
	return !r.spec.Private || (id.token != nil && id.token.reaches(r))
}

func (s *Server) canPush(id identity, r *Repo) bool {
	return id.token != nil && !id.token.readOnly && !s.traits.NoPush && id.token.reaches(r)
}
