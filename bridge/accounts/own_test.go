package accounts

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
)

// hub is a GitHub that answers the nth question with the nth of its errors, and then names the login.
type hub struct {
	login string
	errs  []error
	asked []time.Duration
	began time.Time

	known string
	how   mapping.Authorship
}

func (h *hub) Viewer(context.Context) (string, error) {
	n := len(h.asked)
	h.asked = append(h.asked, time.Since(h.began))
	if n < len(h.errs) {
		return "", h.errs[n]
	}
	h.known, h.how = h.login, mapping.Named
	return h.login, nil
}

func (h *hub) AskViewer(ctx context.Context) (string, error) { return h.Viewer(ctx) }
func (h *hub) ViewerID() int64                               { return 99 }
func (h *hub) Assume(login string)                           { h.known, h.how = login, mapping.Named }
func (h *hub) Known() (string, mapping.Authorship)           { return h.known, h.how }
func (h *hub) Learn(login string) bool {
	if h.how != mapping.Unknown || login == "" {
		return false
	}
	h.known, h.how = login, mapping.Answered
	return true
}

// settled reports whether work may begin.
func settled(o *Own) bool {
	select {
	case <-o.settled:
		return true
	default:
		return false
	}
}

func (w *world) own(h *hub) *Own {
	h.began = time.Now()
	if h.how == 0 {
		h.how = mapping.Unknown
	}
	return NewOwn(OwnOptions{Store: &w.shelf, GitHub: h, People: w.people(), Logger: w.logger()})
}

// TestOwnAccount has a row for each way in which work comes to begin. GitHub names the account, will
// not, or is away, at a first start and at a later one.
func TestOwnAccount(t *testing.T) {
	away := errors.Join(errors.New("dial"), mapping.ErrUnavailable)
	for name, tt := range map[string]struct {
		stored string // of an earlier start
		errs   []error
		asked  int
		known  string
		how    mapping.Authorship
		kept   string
		log    string
	}{
		"GitHub names it":             {"", nil, 1, "bridge[bot]", mapping.Named, "bridge[bot]", "acting on GitHub"},
		"it has another login now":    {"former", nil, 1, "bridge[bot]", mapping.Named, "bridge[bot]", "acting on GitHub"},
		"GitHub names it later":       {"", []error{mapping.ErrUncertain, away}, 3, "bridge[bot]", mapping.Named, "bridge[bot]", "acting on GitHub"},
		"GitHub will not name it":     {"", []error{mapping.ErrForbidden}, 1, "", mapping.Unknown, "", "its issues are told by their markers"},
		"GitHub is away, later start": {"former", []error{away}, 1, "former", mapping.Named, "former", "acting as the account of the last start"},
		"away, named by an answer":    {"former (by an answer)", []error{away}, 2, "bridge[bot]", mapping.Named, "bridge[bot]", "acting on GitHub"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, h := newWorld(), &hub{login: "bridge[bot]", errs: tt.errs}
			if tt.stored != "" {
				w.shelf.docs[docAccount] = tt.stored
			}
			o := w.own(h)
			o.Run(t.Context())
			if !settled(o) || len(h.asked) != tt.asked || h.known != tt.known || h.how != tt.how {
				t.Errorf("%s: work begins %v, asked %v, known is %q by %v", name, settled(o), h.asked, h.known, h.how)
			}
			if w.shelf.docs[docAccount] != tt.kept || w.log.Lines(tt.log) != 1 {
				t.Errorf("%s: kept is %q, logged %s", name, w.shelf.docs[docAccount], &w.log)
			}
			if tt.how == mapping.Named && tt.kept == "bridge[bot]" && w.shelf.docs["login:bridge[bot]"] != `{"id":99,"proven":true}` {
				t.Errorf("%s: the login stands for %q", name, w.shelf.docs["login:bridge[bot]"])
			}
		})
	}
}

// TestPausesBetweenQuestions: they double up to a minute, and end with ctx.
func TestPausesBetweenQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, h := newWorld(), &hub{}
		for range 100 {
			h.errs = append(h.errs, mapping.ErrUncertain)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		o := w.own(h)
		o.Run(ctx)
		want := []time.Duration{0, 1, 3, 7, 15, 31, 63, 123, 183}
		if len(h.asked) != len(want) || settled(o) {
			t.Fatalf("asked at %v, work begins %v", h.asked, settled(o))
		}
		for i, at := range want {
			if h.asked[i] != at*time.Second {
				t.Errorf("question %d came at %v, want %v", i, h.asked[i], at*time.Second)
			}
		}
	})
}

// TestAwait: work waits three seconds for the account, less where it is known before, and never
// begins once nobody waits any more.
func TestAwait(t *testing.T) {
	for name, tt := range map[string]struct {
		settles, gives time.Duration // 0: never
		waited         time.Duration
		begins         bool
		lines          int
	}{
		"nothing is known":   {0, 0, accountPatience, true, 1},
		"it is known before": {time.Second, 0, time.Second, true, 0},
		"the process ends":   {0, time.Second, time.Second, false, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			o := w.own(&hub{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var others sync.WaitGroup
			others.Go(func() {
				if time.Sleep(tt.settles); tt.settles > 0 {
					o.Settle()
				}
				if time.Sleep(tt.gives); tt.gives > 0 {
					cancel()
				}
			})
			began := time.Now()
			if begins := o.Await(ctx); begins != tt.begins || time.Since(began) != tt.waited || w.log.Lines("its issues are told by their markers") != tt.lines {
				t.Errorf("%s: work begins %v after %v, logged %s", name, begins, time.Since(began), &w.log)
			}
			if err := o.Ready(ctx); (err == nil) != tt.begins {
				t.Errorf("%s: it is ready: %v", name, err)
			}
			others.Wait()
		})
	}
}

// TestAnswerNamesTheAccount: the first answer to a write does, and the next start knows it as one that
// an answer named.
func TestAnswerNamesTheAccount(t *testing.T) {
	w, h := newWorld(), &hub{}
	o := w.own(h)
	o.AnsweredAs(t.Context(), "bridge[bot]")
	o.AnsweredAs(t.Context(), "octocat")
	if h.known != "bridge[bot]" || w.shelf.docs[docAccount] != "bridge[bot] (by an answer)" || w.log.Lines("an answer names the bridge's own account") != 1 {
		t.Errorf("known is %q, kept %v, logged %s", h.known, w.shelf.docs, &w.log)
	}
	next := &hub{}
	if err := w.own(next).Recall(t.Context()); err != nil || next.known != "bridge[bot]" || next.how != mapping.Answered {
		t.Errorf("the next start knows %q by %v, %v", next.known, next.how, err)
	}
	w.shelf.err = errors.New("the store is away")
	if err := w.own(&hub{}).Recall(t.Context()); !errors.Is(err, w.shelf.err) {
		t.Errorf("the store is away, and the error is %v", err)
	}
}

// TestStoreThatLostTheAccount is told of it again.
func TestStoreThatLostTheAccount(t *testing.T) {
	w, h := newWorld(), &hub{known: "bridge[bot]", how: mapping.Named}
	if err := w.own(h).Recall(t.Context()); err != nil || w.shelf.docs[docAccount] != "bridge[bot]" {
		t.Errorf("kept is %v, %v", w.shelf.docs, err)
	}
}

// TestOwnLoginChanges: GitHub is asked anew where the login was the bridge's own, and nobody else's.
func TestOwnLoginChanges(t *testing.T) {
	for name, tt := range map[string]struct {
		was, now string
		how      mapping.Authorship
		ours     bool
		known    string
	}{
		"the bridge's":          {"Former", "bridge[bot]", mapping.Named, true, "bridge[bot]"},
		"the same in truth":     {"former", "Former", mapping.Named, true, "Former"},
		"somebody else's":       {"octocat", "bridge[bot]", mapping.Named, false, "former"},
		"named by answers only": {"former", "bridge[bot]", mapping.Answered, false, "former"},
	} {
		w, h := newWorld(), &hub{known: "former", how: tt.how, login: tt.now}
		if ours := w.own(h).LoginChanged(t.Context(), tt.was); ours != tt.ours || h.known != tt.known {
			t.Errorf("%s: ours %v, known is %q", name, ours, h.known)
		}
		if changed := w.shelf.docs[docAccount] == tt.now; changed != (tt.known == "bridge[bot]") {
			t.Errorf("%s: kept is %v", name, w.shelf.docs)
		}
	}
}
