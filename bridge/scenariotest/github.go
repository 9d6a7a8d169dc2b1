package scenariotest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
)

// github has the events on GitHub:
//
//	open|open-pr WHO TITLE [LABEL…] [body=] [crlf] [parent=]      edit N WHO [title=] [body=] [crlf]
//	label|unlabel N WHO LABEL…                  close N WHO [REASON]      reopen N WHO
//	tick|untick N WHO TEXT: click the box of that item
//	sub|unsub PARENT CHILD: make issue CHILD a sub-issue, or no more
//	comment N WHO TEXT                          delete N                  publish|privatize
//	deliveries pause|release|arrive|shuffle|reverse|drop N     redeliver         forge TITLE
//	down|up                                     fault OP KIND [times=] [after=] [code=] [message=]
//	traits [WORD…] [NAME=VALUE…]                limit primary|secondary|no-header|429
//	copy-marker N WHO TITLE: open an issue with issue N's whole body, marker included
//	unmark N WHO [body=]: save the body without the marker
//	latency DURATION: each answer takes so long
//	token revoke|restore                        clock DURATION: it is that much later for GitHub
//	repo, in, transfer, rename, archive, lock, convert …: see moves.go
//	race OP N WHO [title=] [body=]: WHO saves just before the bridge's next write OP takes effect
func (s *Scene) github(l *line) error {
	if err := s.ensure(); err != nil {
		return err
	}
	verb := l.next()
	if s.githubShows(verb, l) {
		return nil
	}
	switch verb {
	case "open", "open-pr", "edit", "label", "unlabel", "close", "reopen", "comment", "delete", "publish", "privatize", "copy-marker", "unmark":
		s.githubPerson(verb, l)
		return nil
	case "sub", "unsub":
		s.family(l.number(), l.number(), verb == "sub")
		return nil
	case "tick", "untick":
		return s.tick(l.number(), l.next(), l.next(), verb == "tick")
	case "deliveries":
		return s.deliveries(l)
	case "redeliver":
		for _, d := range s.GitHub.Deliveries() {
			s.GitHub.Redeliver(d.GUID)
		}
		return nil
	case "forge":
		return s.forge(l.next())
	case "down", "up":
		s.GitHub.Down(verb == "down")
		return nil
	case "fault":
		s.githubFault(l)
		return nil
	case "limit":
		return s.limit(l.next())
	case "token":
		s.token(l.next())
		return nil
	case "race":
		s.race(l)
		return nil
	case "latency":
		d, err := time.ParseDuration(l.next())
		s.GitHub.SetLatency(d)
		return err
	case "clock":
		d, err := time.ParseDuration(l.next())
		s.GitHub.Advance(d)
		return err
	case "traits":
		var err error
		s.GitHub.SetTraits(func(t *githubtest.Traits) { err = setTraits(t, l) })
		return err
	default:
		return s.repos(verb, l)
	}
}

// family makes an issue a sub-issue, or no more.
func (s *Scene) family(parent, child int, isSub bool) {
	if isSub {
		s.Repo.AddSubIssue(parent, child)
	} else {
		s.Repo.RemoveSubIssue(parent, child)
	}
}

func (s *Scene) githubFault(l *line) {
	f := githubtest.Fault{
		Match: l.next(), Kind: githubtest.FaultKind(l.next()), Times: l.int("times"), After: l.duration("after"), Code: l.int("code"),
	}
	if words, ok := l.get("message"); ok {
		f.Body = fmt.Sprintf(`{"message": %q}`, words)
	}
	s.GitHub.Fault(f)
}

// githubPerson has people's acts in the web interface.
func (s *Scene) githubPerson(verb string, l *line) {
	if verb == "open" || verb == "open-pr" {
		spec := githubtest.IssueSpec{Parent: l.int("parent")}
		who, crlf := l.next(), l.flag("crlf")
		spec.Title, spec.Labels = l.next(), l.words
		l.set("title", &spec.Title)
		l.set("body", &spec.Body)
		if crlf {
			spec.Body = crlfOf(spec.Body)
		}
		if verb == "open-pr" {
			s.Repo.OpenPR(who, spec)
		} else {
			s.Repo.Open(who, spec)
		}
		return
	}
	if verb == "publish" || verb == "privatize" {
		s.Repo.Publish(verb == "publish")
		return
	}
	n := l.number()
	if verb == "delete" {
		s.Repo.Delete(n)
		return
	}
	who := l.next()
	switch verb {
	case "edit":
		s.save(n, who, l)
	case "label":
		for _, name := range l.words {
			s.Repo.Label(n, who, name)
		}
	case "unlabel":
		for _, name := range l.words {
			s.Repo.Unlabel(n, who, name)
		}
	case "close":
		s.Repo.Close(n, who, l.next())
	case "reopen":
		s.Repo.Reopen(n, who)
	case "comment":
		s.Repo.Comment(n, who, l.next())
	case "unmark":
		s.Repo.Edit(n, who, func(e *githubtest.IssueEdit) {
			e.Body, _ = bridgetest.SplitMarker(e.Body)
			l.set("body", &e.Body)
		})
	case "copy-marker":
		s.Repo.Open(who, githubtest.IssueSpec{Title: l.next(), Body: s.Repo.Issue(n).Body})
	}
}

// save edits an issue. A text of ours below the visible text (a marker) stays where it is, as in
// the editor.
func (s *Scene) save(n int, who string, l *line) {
	crlf := l.flag("crlf")
	s.Repo.Edit(n, who, func(e *githubtest.IssueEdit) {
		l.set("title", &e.Title)
		if text, ok := l.get("body"); ok {
			_, mark := bridgetest.SplitMarker(e.Body)
			e.Body = text + mark
		}
		e.CRLF = e.CRLF || crlf
	})
}

func crlfOf(text string) string {
	return string(bytes.ReplaceAll([]byte(text), []byte("\n"), []byte("\r\n")))
}

func (s *Scene) deliveries(l *line) error {
	switch how := l.next(); how {
	case "pause":
		s.GitHub.PauseDeliveries()
	case "release":
		s.GitHub.ReleaseDeliveries()
	case "arrive":
		ctx, cancel := context.WithTimeout(context.Background(), bridgetest.Patience)
		defer cancel()
		return s.GitHub.Idle(ctx)
	case "shuffle":
		s.GitHub.ShuffleDeliveries()
	case "reverse":
		s.GitHub.ReverseDeliveries()
	case "drop":
		s.GitHub.DropNext(l.number())
	default:
		return fmt.Errorf("deliveries %s: want pause, release, arrive, shuffle, reverse or drop", how)
	}
	return nil
}

// token takes the bridge's token away, or gives it back.
func (s *Scene) token(what string) {
	s.GitHub.RevokeToken(bridgetest.Token)
	if what == "restore" {
		s.GitHub.AddToken(bridgetest.Token, bridgetest.Bot)
	}
}

// limit sets one of GitHub's limits.
func (s *Scene) limit(form string) error {
	const wait = 2 * time.Second
	switch form {
	case "primary":
		s.GitHub.Fault(githubtest.PrimaryLimit(s.GitHub.Now().Add(wait)))
	case "secondary":
		s.GitHub.Fault(githubtest.SecondaryLimit(wait))
	case "no-header":
		s.GitHub.Fault(githubtest.SecondaryNoHeader())
	case "429":
		f := githubtest.SecondaryLimit(wait)
		f.Code = http.StatusTooManyRequests
		s.GitHub.Fault(f)
	default:
		return fmt.Errorf("limit %s: want primary, secondary, no-header or 429", form)
	}
	return nil
}

// race lets a person save between the bridge's read and its write.
func (s *Scene) race(l *line) {
	op, n, who := l.next(), l.number(), l.next()
	var once sync.Once
	s.GitHub.BeforeWrite(func(now, _ string, _ int) {
		if now == op {
			once.Do(func() { s.save(n, who, l) })
		}
	})
}

// forge posts an event in GitHub's name, signed with another secret.
func (s *Scene) forge(title string) error {
	body := fmt.Appendf(nil, `{"action":"opened","issue":{"id":99,"number":99,"title":%q,"state":"open","user":{"login":"mallory"},"created_at":"2030-01-01T00:00:00Z","updated_at":"2030-01-01T00:00:00Z"},"repository":{"id":%d,"full_name":%q,"private":true},"sender":{"login":"mallory"}}`,
		title, s.Repo.ID(), bridgetest.RepoName)
	req, err := http.NewRequest(http.MethodPost, s.WebhookURL(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", "issues")
	req.Header.Set("X-GitHub-Delivery", "11111111-2222-3333-4444-555555555555")
	req.Header.Set("X-Hub-Signature-256", githubtest.Sign("not the secret", body))
	resp, err := s.Client().Do(req)
	if err != nil {
		return err
	}
	s.Client().CloseIdleConnections()
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return fmt.Errorf("a forged delivery was answered with %s", resp.Status)
	}
	return nil
}
