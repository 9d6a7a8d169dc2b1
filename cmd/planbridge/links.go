package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

type linksCmd struct {
	output
	Route string  `placeholder:"NAME" help:"Only the links of this route."`
	State *string `placeholder:"STATE" enum:"entering,creating,linked,left,orphaned,dormant,erased" help:"Only links in this state: entering, creating, linked, left, orphaned, dormant or erased."`
	Limit atMost  `default:"1000" help:"At most so many."`
}

// Run implements the command.
func (c *linksCmd) Run(ctx context.Context, p *process) error {
	query := url.Values{"limit": {strconv.Itoa(int(c.Limit))}, "route": {c.Route}}
	if c.State != nil {
		query.Set("state", *c.State)
	}
	return with(ctx, p, func(api *client) error {
		var got status.Links
		if err := api.ask(ctx, http.MethodGet, "/api/v1/links?"+query.Encode(), nil, &got); err != nil {
			return err
		}
		err := c.print(p, got, func() error {
			t := newTable(p.stdout, "ISSUE", "CARD", "BUCKET", "STATE", "ROUTE", "SYNCED", "WHY")
			for _, l := range got.Links {
				issue, card := ends(l)
				why := l.Why
				if why == "" && l.Paused {
					why = "its route is paused"
				}
				t.row(issue, card.ID, card.Bucket, l.State, l.Route, moment(l.Synced), why)
			}
			return t.flush()
		})
		if got.More {
			fmt.Fprintf(p.stderr, "planbridge: there are more than %s; --limit says how many to list\n", mapping.Count(int(c.Limit), "link", "links"))
		}
		if got.Error != "" {
			err = errors.Join(err, fmt.Errorf("the list is not complete: %s", got.Error))
		}
		return err
	})
}

// ends names both items of a link, each "" where it does not exist yet.
func ends(l status.Link) (issue string, card status.Card) {
	if l.Card != nil {
		card = *l.Card
	}
	return l.Issue.Name(), card
}

// EachLink implements [open.Running]. It visits the links while they come, as there can be many.
func (c *client) EachLink(ctx context.Context, visit func(status.Link)) error {
	resp, err := c.send(ctx, http.MethodGet, fmt.Sprintf("/api/v1/links?limit=%d", status.MaxLinks), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	dec := json.NewDecoder(resp.Body)
	var end status.ListEnd
	err = visitList(dec, visit, &end)
	switch {
	case err != nil:
		return fmt.Errorf("%s: the list of links is not planbridge's: %w", c.base, err)
	case end.Error != "":
		return fmt.Errorf("the list of links is not complete: %s", end.Error)
	case end.More:
		return fmt.Errorf("there are more than %s", mapping.Count(status.MaxLinks, "link", "links"))
	}
	return nil
}

// visitList reads an answer as [status.Links] is written, its links first.
func visitList(dec *json.Decoder, visit func(status.Link), end *status.ListEnd) error {
	for _, want := range []json.Token{json.Delim('{'), "links", json.Delim('[')} {
		got, err := dec.Token()
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%v where %v is expected", got, want)
		}
	}
	for dec.More() {
		var l status.Link
		if err := dec.Decode(&l); err != nil {
			return err
		}
		visit(l)
	}
	if _, err := dec.Token(); err != nil { // the list's end
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		var value any
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			return err
		}
		switch key {
		case "more":
			end.More, _ = value.(bool)
		case "error":
			end.Error, _ = value.(string)
		}
	}
	return nil
}
