package bridgetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
)

// bridge is what becomes of the bridge, and what operators ask of it:
//
//	accept repository|account NAME   erase ISSUE   unlink ISSUE   pause|resume: the route
//	link ISSUE CARD: they are linked from then on   undo: what the newest conflict overruled is back
//	route gone|back: reload a configuration without the route, or with it
func (s *scene) bridge(l *line) error {
	if err := s.ensure(); err != nil {
		return err
	}
	switch verb := l.next(); verb {
	case "stop":
		return s.StopBridge()
	case "start":
		// What GitHub has to tell until now it tells in vain, on a slow machine too.
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.GitHub.Idle(ctx); err != nil {
			return err
		}
		return s.StartBridge()
	case "restart", "forget", "keep", "put-back":
		return s.store(verb)
	case "labels":
		s.labels = l.next()
		return s.store("restart")
	case "accept":
		return s.ask("/api/v1/accept/"+l.next()+"/"+url.PathEscape(l.next()), nil, nil)
	case "unlink":
		return s.ask("/api/v1/links/"+url.PathEscape(s.item(l))+"/unlink", nil, nil)
	case "link":
		return s.link(s.item(l), s.card(l.number()))
	case "pause", "resume":
		return s.ask("/api/v1/routes/"+url.PathEscape(bridgetest.RepoName)+"/"+verb, nil, nil)
	case "undo":
		return s.undo()
	case "erase":
		return s.ask("/api/v1/erase", status.EraseAsk{Item: s.item(l)}, nil)
	case "route":
		return s.configure(l.next())
	default:
		return fmt.Errorf("bridge %s: nobody knows how to do that", verb)
	}
}

// link links an issue with a card, and holds what the operator is told.
func (s *scene) link(issue, card string) error {
	var told status.Link
	err := s.ask("/api/v1/links/"+url.PathEscape(issue)+"/link", status.Join{Card: card}, &told)
	if state := mapping.LinkState(told.State); err == nil && state != mapping.Linked && state != mapping.Creating {
		err = fmt.Errorf("%s is %s though an operator linked it", issue, state)
	}
	return err
}

// undo asks to have the loser of the newest conflict back.
func (s *scene) undo() error {
	all, err := s.App.Operator().Conflicts(context.Background(), 1)
	if err == nil && len(all) == 0 {
		err = errors.New("there is no conflict")
	}
	if err != nil {
		return fmt.Errorf("undo: %w", err)
	}
	return s.App.Operator().UndoConflict(context.Background(), all[0].ID)
}

// ask asks something of the running service, as the commands of planbridge do.
func (s *scene) ask(path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	resp, err := s.Client().Post(s.AdminURL()+path, "application/json", bytes.NewReader(text))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s, %w", path, resp.Status, said, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(said, into)
}

// item is how operators call an issue.
func (s *scene) item(l *line) string { return fmt.Sprintf("%s#%d", s.Repo.Name(), l.number()) }

// configure gives the running bridge another configuration.
func (s *scene) configure(route string) error {
	yaml := s.YAML()
	if route == "gone" {
		yaml = strings.Replace(yaml, "repository: "+bridgetest.RepoName, "repository: acme/other", 1)
	}
	c, err := config.Parse([]byte(yaml), "planbridge.yaml", s.Env)
	if err != nil {
		return err
	}
	return s.App.Reload(context.Background(), c)
}
