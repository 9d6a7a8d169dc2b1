package scenariotest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
)

// bridge has the events of the bridge, and operators' requests:
//
//	accept repository|account NAME   erase ISSUE   unlink ISSUE   clean ISSUE   pause|resume: the route
//	link ISSUE CARD: they are linked from then on   undo: what the newest conflict overruled is back
//	route gone|back: reload a configuration without the route, or with it
//	move: the route leads to another project from then on, and its issues move there (see moves.go)
func (s *Scene) bridge(l *line) error {
	if err := s.ensure(); err != nil {
		return err
	}
	switch verb := l.next(); verb {
	case "stop":
		return s.StopBridge()
	case "start":
		// Deliveries of GitHub so far are lost, also on a slow machine.
		ctx, cancel := context.WithTimeout(context.Background(), bridgetest.Patience)
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
	case "clean":
		return s.ask("/api/v1/clean", status.CleanAsk{Item: s.item(l)}, nil)
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
	case "move":
		return s.move()
	default:
		return fmt.Errorf("bridge %s: nobody knows how to do that", verb)
	}
}

// link links an issue with a card, and keeps the answer to the operator.
func (s *Scene) link(issue, card string) error {
	var told status.Link
	err := s.ask("/api/v1/links/"+url.PathEscape(issue)+"/link", status.Join{Card: card}, &told)
	if state := mapping.LinkState(told.State); err == nil && state != mapping.Linked && state != mapping.Creating {
		err = fmt.Errorf("%s is %s though an operator linked it", issue, state)
	}
	return err
}

// undo requests the undo of the newest conflict.
func (s *Scene) undo() error {
	all, err := s.App.Operator().Conflicts(context.Background(), 1)
	if err == nil && len(all) == 0 {
		err = errors.New("there is no conflict")
	}
	if err != nil {
		return fmt.Errorf("undo: %w", err)
	}
	return s.App.Operator().UndoConflict(context.Background(), all[0].ID)
}

// ask sends a request to the running service, as planbridge's commands do.
func (s *Scene) ask(path string, body, into any) error {
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

// item is the operators' name of an issue.
func (s *Scene) item(l *line) string { return fmt.Sprintf("%s#%d", s.Repo.Name(), l.number()) }

// configure gives the running bridge another configuration.
func (s *Scene) configure(route string) error {
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

// store keeps a copy of the store's file, puts that back, or removes the file. The bridge begins
// anew with the result.
func (s *Scene) store(verb string) error {
	if err := s.StopBridge(); err != nil {
		return err
	}
	path := filepath.Join(s.o.Dir, "planbridge.db")
	var err error
	switch verb {
	case "keep":
		err = copyFile(path+".kept", path)
	case "put-back":
		s.forgotten = true
		err = copyFile(path, path+".kept")
	case "forget":
		s.forgotten = true
		err = os.Remove(path)
	}
	if err != nil {
		return err
	}
	return s.StartBridge()
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it is only read
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
