package github

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Hook is a configured webhook. Its secret cannot be read.
type Hook struct {
	ID          int64 // 0 for an App's own
	URL         string
	ContentType string // json or form
	Events      []string
	Active      bool
}

type wireHookConfig struct {
	URL         string
	ContentType string `json:"content_type"`
}

// Delivery is one attempt of GitHub to deliver an event.
type Delivery struct {
	ID          int64  // this attempt's
	GUID        string // the event's: a redelivery keeps it
	Event       string
	Action      string
	DeliveredAt time.Time
	Redelivery  bool
	StatusCode  int // our answer; 0 where there was none
	RepoID      int64
}

type wireDelivery struct {
	ID           int64
	GUID         string
	Event        string
	Action       string
	DeliveredAt  stamp `json:"delivered_at"`
	Redelivery   bool
	StatusCode   int   `json:"status_code"`
	RepositoryID int64 `json:"repository_id"`
}

func (w wireDelivery) delivery() Delivery {
	return Delivery{
		ID: w.ID, GUID: w.GUID, Event: w.Event, Action: w.Action, DeliveredAt: w.DeliveredAt.time(),
		Redelivery: w.Redelivery, StatusCode: w.StatusCode, RepoID: w.RepositoryID,
	}
}

// hooksCall names the webhooks of owner: a repository ("acme/web"), an
// organisation ("acme"), or the App itself ("").
func hooksCall(op, owner string) call {
	switch {
	case owner == "":
		return call{op: op, object: "app hook", path: "app/hook", jwt: true}
	case strings.Contains(owner, "/"):
		return repoCall(op, owner).sub("hooks")
	default:
		return call{op: op, object: owner, owner: owner, path: "orgs/" + escape(owner) + "/hooks"}
	}
}

func deliveriesCall(op, owner string, hook int64) call {
	k := hooksCall(op, owner)
	if owner != "" {
		k = numbered(k, hook)
	}
	return k.sub("deliveries")
}

// numbered appends a number to the path.
func numbered(k call, n int64) call { return k.sub(strconv.FormatInt(n, 10)) }

// ListHooks lists the webhooks of owner: a repository ("acme/web"), an
// organisation ("acme"), or the App itself ("", one hook).
func (c *Client) ListHooks(ctx context.Context, owner string) ([]Hook, error) {
	k := hooksCall("list_hooks", owner)
	if owner == "" {
		var w wireHookConfig
		if _, err := c.do(ctx, k.sub("config"), http.MethodGet, nil, &w); err != nil {
			return nil, err
		}
		return []Hook{{URL: w.URL, ContentType: w.ContentType, Active: true}}, nil
	}
	type wireHook struct {
		ID     int64
		Active bool
		Events []string
		Config wireHookConfig
	}
	return all(ctx, c, k.query(url.Values{"per_page": {"100"}}), func(w wireHook) Hook {
		return Hook{ID: w.ID, URL: w.Config.URL, ContentType: w.Config.ContentType, Events: w.Events, Active: w.Active}
	})
}

// CreateHook makes an active webhook of owner, as in ListHooks. An App has one hook: CreateHook
// sets its address and secret, and its events are the App's. mapping.ErrUncertain means that the
// hook may exist.
func (c *Client) CreateHook(ctx context.Context, owner, url string, events []string, secret string) error {
	config := map[string]string{"url": url, "content_type": "json", "secret": secret}
	if owner == "" {
		_, err := c.do(ctx, hooksCall("set_hook", owner).sub("config"), http.MethodPatch, config, nil)
		return err
	}
	_, err := c.do(ctx, hooksCall("create_hook", owner), http.MethodPost,
		map[string]any{"name": "web", "active": true, "events": events, "config": config}, nil)
	return err
}

// Deliveries lists a hook's deliveries since a time, newest first. GitHub keeps them for three
// days. owner is as in ListHooks.
func (c *Client) Deliveries(ctx context.Context, owner string, hook int64, since time.Time) ([]Delivery, error) {
	k := deliveriesCall("list_deliveries", owner, hook).query(url.Values{"per_page": {"100"}})
	k.fresh = true
	var list []Delivery
	err := walk(ctx, c, k, func(page []wireDelivery, _ *answer) (bool, error) {
		for _, w := range page {
			d := w.delivery()
			if d.DeliveredAt.Before(since) {
				return false, nil
			}
			list = append(list, d)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Redeliver asks GitHub to deliver again, under the same GUID. It changes no issue, and takes
// nothing from the write budgets.
func (c *Client) Redeliver(ctx context.Context, owner string, hook, id int64) error {
	k := numbered(deliveriesCall("redeliver", owner, hook), id).sub("attempts")
	k.class = classAsk
	_, err := c.do(ctx, k, http.MethodPost, nil, nil)
	return err
}
