package accounts

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/identity"
	"planbridge/bridge/logtest"
	"planbridge/mapping"
	"planbridge/store"
)

// shelf keeps documents.
type shelf struct {
	docs  map[string]string
	err   error // of every call
	reads int
}

func (s *shelf) Doc(_ context.Context, _ mapping.ObjectID, name string) ([]byte, error) {
	s.reads++
	if s.err != nil {
		return nil, s.err
	}
	if doc, ok := s.docs[name]; ok {
		return []byte(doc), nil
	}
	return nil, store.ErrNotFound
}

func (s *shelf) PutDoc(_ context.Context, _ mapping.ObjectID, name string, data []byte) error {
	if s.err == nil {
		s.docs[name] = string(data)
	}
	return s.err
}

// users tells the accounts of logins.
type users struct {
	ids   map[string]int64
	asked []string
}

func (u *users) AccountID(_ context.Context, login string) (int64, error) {
	u.asked = append(u.asked, login)
	if id, ok := u.ids[strings.ToLower(login)]; ok {
		return id, nil
	}
	return 0, errors.New("GitHub is away")
}

// rights are those of octocat alone.
type rights struct{ changed []string }

func (r *rights) HasRights(login string) bool { return strings.EqualFold(login, "octocat") }
func (r *rights) LoginChanged(_ context.Context, was, login string) {
	r.changed = append(r.changed, was+" to "+login)
}

// world is what People are made of.
type world struct {
	shelf  shelf
	users  users
	rights rights
	log    logtest.Text
}

func newWorld() *world {
	return &world{shelf: shelf{docs: map[string]string{}}, users: users{ids: map[string]int64{}}}
}

func (w *world) logger() *slog.Logger { return slog.New(slog.NewTextHandler(&w.log, nil)) }
func (w *world) people() *People      { return NewPeople(&w.shelf, &w.users, &w.rights, w.logger()) }

// TestLoginOfAnotherAccount: the account that a login stands for is the first one that was seen. When
// another one has the login GitHub is asked, and a stranger has no rights until the account is back.
func TestLoginOfAnotherAccount(t *testing.T) {
	for name, tt := range map[string]struct {
		tells    int64 // whom GitHub names when it is asked; 0: it does not tell
		met      []int64
		stranger bool
		asked    int
		stored   string
	}{
		"the first account":           {7, []int64{7}, false, 0, `{"id":7}`},
		"the same again":              {7, []int64{7, 7, 7}, false, 0, `{"id":7}`},
		"another one":                 {8, []int64{7, 8}, true, 1, `{"id":7,"other":8}`},
		"another one again":           {8, []int64{7, 8, 8}, true, 1, `{"id":7,"other":8}`},
		"an old event of another one": {7, []int64{7, 8}, false, 1, `{"id":7}`},
		"another one, and no word":    {0, []int64{7, 8}, true, 1, `{"id":7,"other":8}`},
		"an id that is not told":      {0, []int64{0}, false, 0, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			if tt.tells != 0 {
				w.users.ids["octocat"] = tt.tells
			}
			p := w.people()
			for _, id := range tt.met {
				time.Sleep(askEvery)
				p.Meet(t.Context(), "Octocat", id)
			}
			if p.Stranger("OCTOCAT") != tt.stranger || len(w.users.asked) != tt.asked || w.shelf.docs["login:octocat"] != tt.stored {
				t.Errorf("%s: stranger %v, GitHub was asked %d times, stored %q", name, p.Stranger("octocat"), len(w.users.asked), w.shelf.docs["login:octocat"])
			}
			if again := w.people(); again.Recall(t.Context(), "octocat") != nil || again.Stranger("octocat") != tt.stranger {
				t.Errorf("%s: after a start the login is a stranger's: %v", name, again.Stranger("octocat"))
			}
		})
	}
}

// TestAccountThatComesBack: once the first account has its login again, it has its rights.
func TestAccountThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		p := w.people()
		p.Meet(t.Context(), "octocat", 7)
		w.users.ids["octocat"] = 8
		p.Meet(t.Context(), "octocat", 8)
		if !p.Stranger("octocat") || w.log.Lines("belongs to another account now") != 1 {
			t.Fatalf("another account has rights: %s", &w.log)
		}
		w.users.ids["octocat"] = 7
		p.Meet(t.Context(), "octocat", 7)
		if p.Stranger("octocat") || w.log.Lines("is back with the account that had it") != 1 {
			t.Errorf("the account is back, and a stranger: %s", &w.log)
		}
	})
}

// TestGitHubIsAskedOnceInAWhile: events of a stranger do not make as many requests.
func TestGitHubIsAskedOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		p := w.people()
		w.users.ids["octocat"] = 7
		p.Meet(t.Context(), "octocat", 7)
		for range 60 { // a minute of old events of another account
			p.Meet(t.Context(), "octocat", 8)
			time.Sleep(time.Second)
		}
		if n := len(w.users.asked); n != 2 {
			t.Errorf("GitHub was asked %d times in a minute", n)
		}
	})
}

// TestAccountWithAnotherLogin: an account that is known is told of by its old login and its new one.
// Logins without rights are not remembered.
func TestAccountWithAnotherLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		p := w.people()
		time.Sleep(askEvery)
		p.Meet(t.Context(), "octocat", 7)
		p.Meet(t.Context(), "hubot", 9)
		p.Meet(t.Context(), "", 7)
		p.Meet(t.Context(), "monalisa", 7)
		p.Meet(t.Context(), "monalisa", 7)
		if len(w.rights.changed) != 1 || w.rights.changed[0] != "octocat to monalisa" {
			t.Errorf("changed are %v", w.rights.changed)
		}
		if len(w.shelf.docs) != 1 || w.shelf.docs["login:octocat"] == "" {
			t.Errorf("remembered are %v", w.shelf.docs)
		}
	})
}

// TestStoreThatDoesNotAnswer: nobody loses rights by it, and the next event is judged.
func TestStoreThatDoesNotAnswer(t *testing.T) {
	w := newWorld()
	p := w.people()
	w.shelf.err = errors.New("the store is away")
	p.Meet(t.Context(), "octocat", 7)
	if p.Stranger("octocat") || w.log.Lines("remembering which account has a login") != 1 {
		t.Errorf("stranger %v: %s", p.Stranger("octocat"), &w.log)
	}
	if err := p.Recall(t.Context(), "octocat"); !errors.Is(err, w.shelf.err) {
		t.Errorf("recalled with %v", err)
	}
	w.shelf.err = nil
	p.Meet(t.Context(), "octocat", 7)
	if w.shelf.docs["login:octocat"] != `{"id":7}` {
		t.Errorf("remembered are %v", w.shelf.docs)
	}
}

// TestForget: records that another replica or an operator stored are read anew, and others only once.
func TestForget(t *testing.T) {
	w := newWorld()
	p := w.people()
	for range 3 {
		if err := p.Recall(t.Context(), "octocat", "OCTOCAT"); err != nil {
			t.Fatal(err)
		}
	}
	if w.shelf.reads != 1 {
		t.Errorf("the store was read %d times", w.shelf.reads)
	}
	if err := identity.Put(t.Context(), &w.shelf, identity.DocLogin("octocat"), identity.Record{ID: 7, Other: 8}); err != nil {
		t.Fatal(err)
	}
	if p.Stranger("octocat") {
		t.Error("it knows what it has not read")
	}
	p.Forget()
	if err := p.Recall(t.Context(), "octocat"); err != nil || !p.Stranger("octocat") {
		t.Errorf("after forgetting: %v, %v", p.Stranger("octocat"), err)
	}
}
