package memplanning

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"planbridge/bridge/planning"
	"planbridge/bridge/planningtest/planningmodel"
	"planbridge/mapping"
)

// attrs are the attributes that a client writes.
var attrs = map[mapping.Attribute]planningmodel.Attr{
	mapping.Title: planningmodel.Title, mapping.Summary: planningmodel.Summary,
	mapping.Estimate: planningmodel.Estimate, mapping.State: planningmodel.State,
}

// CreateCard makes one card in a bucket.
func (c *Client) CreateCard(ctx context.Context, bucket mapping.ObjectID, username string, card planning.NewCard) (mapping.Card, error) {
	n := planning.NewCards(bucket, []planning.UserCard{{Username: username, NewCard: card}})
	n.Batch = false
	made, err := c.createCards(ctx, n)
	return first(made), err
}

// CreateCardsBy makes several cards in a bucket, each in the name of its user.
func (c *Client) CreateCardsBy(ctx context.Context, bucket mapping.ObjectID, cards []planning.UserCard) ([]mapping.Card, error) {
	return c.createCards(ctx, planning.NewCards(bucket, cards))
}

func (c *Client) createCards(ctx context.Context, n planning.Creation) ([]mapping.Card, error) {
	return create(ctx, c, n, planningmodel.Session.CreateCards, func(v view, it *planningmodel.Item) mapping.Card { return v.card(it, n.In, "") })
}

// CreateTask makes one task on a card.
func (c *Client) CreateTask(ctx context.Context, card mapping.ObjectID, username string, task planning.NewTask) (mapping.Task, error) {
	n := planning.NewTasks(card, username, []planning.NewTask{task})
	n.Batch = false
	made, err := create(ctx, c, n, planningmodel.Session.CreateTasks, view.task)
	return first(made), err
}

// CreateTasks makes several tasks on a card.
func (c *Client) CreateTasks(ctx context.Context, card mapping.ObjectID, username string, tasks []planning.NewTask) ([]mapping.Task, error) {
	return create(ctx, c, planning.NewTasks(card, username, tasks), planningmodel.Session.CreateTasks, view.task)
}

func first[T any](all []T) (t T) {
	if len(all) > 0 {
		t = all[0]
	}
	return t
}

func create[T any](ctx context.Context, c *Client, n planning.Creation,
	send func(planningmodel.Session, string, []planningmodel.Draft) ([]planningmodel.Item, error), convert func(view, *planningmodel.Item) T,
) ([]T, error) {
	if len(n.Drafts) == 0 {
		return nil, nil
	}
	r := n.Request()
	if err := planning.CheckID(n.In); err != nil {
		return nil, r.Failed(err)
	}
	checked, err := n.Checked()
	if err != nil {
		return nil, r.Failed(err)
	}
	s, err := c.session(ctx, &r)
	if err != nil {
		return nil, r.Failed(err)
	}
	made, err := send(s, string(n.In), drafts(checked))
	if err != nil {
		return nil, r.Failed(refused(&r, err))
	}
	t := c.service.Traits()
	if err := answered(&r, t.SuccessStatus.Create); err != nil {
		return nil, r.Failed(err)
	}
	return all(convert)(view{&t}, &made), nil
}

// drafts are the items as the model takes them.
func drafts(checked []planning.Draft) []planningmodel.Draft {
	out := make([]planningmodel.Draft, len(checked))
	for i, d := range checked {
		var fields []planningmodel.Field // by their names, as a body has them
		if d.Estimate != "" {
			fields = append(fields, planningmodel.Field{Attr: planningmodel.Estimate, Value: d.Estimate})
		}
		if d.Summary != "" {
			fields = append(fields, planningmodel.Field{Attr: planningmodel.Summary, Value: d.Summary})
		}
		fields = append(fields, planningmodel.Field{Attr: planningmodel.Title, Value: d.Title})
		out[i] = planningmodel.Draft{User: d.Username, Fields: fields}
	}
	return out
}

// UpdateCard writes attributes of a card under their versions.
func (c *Client) UpdateCard(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (planning.Updated, error) {
	return c.update(ctx, planning.Write{ID: id, Card: true, Username: username, Images: images, Set: set}, planningmodel.Session.UpdateCard)
}

// UpdateTask writes attributes of a task under their versions.
func (c *Client) UpdateTask(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (planning.Updated, error) {
	return c.update(ctx, planning.Write{ID: id, Username: username, Images: images, Set: set}, planningmodel.Session.UpdateTask)
}

func (c *Client) update(ctx context.Context, u planning.Write,
	send func(s planningmodel.Session, id, user string, fields []planningmodel.Field) (planningmodel.Item, error),
) (planning.Updated, error) {
	r := u.Request()
	changes, plain, err := u.Changes()
	failed := func(err error) (planning.Updated, error) { return planning.Updated{Plain: plain}, r.Failed(err) }
	if bad := planning.CheckID(u.ID); bad != nil {
		return failed(bad)
	}
	if err != nil {
		return failed(err)
	}
	s, err := c.session(ctx, &r)
	if err != nil {
		return failed(err)
	}
	fields := make([]planningmodel.Field, len(changes))
	for i, change := range changes {
		fields[i] = planningmodel.Field{Attr: attrs[change.Attribute], Value: change.Value, HTML: change.HTML, Version: change.Version}
	}
	it, err := send(s, string(u.ID), u.Username, fields)
	a, err := c.answer(&u, &it, err)
	if err != nil {
		return failed(err)
	}
	done, err := u.Judge(a)
	if err == nil && a.Status/100 != 2 {
		err = r.Fault(a.Status, "", a.Said(), time.Time{})
	}
	if done.Plain = plain; err != nil {
		return failed(err)
	}
	return done, nil
}

// answer is what the service answers to an update that left it with the item, or
// that it refused.
func (c *Client) answer(u *planning.Write, it *planningmodel.Item, err error) (planning.Answer, error) {
	var refusal *planningmodel.Refusal
	var conflict *planningmodel.Conflict
	a := planning.Answer{Values: map[mapping.Attribute]mapping.Versioned{}, Said: func() string { return "" }}
	switch {
	case errors.As(err, &refusal):
		a.Status, a.IsError, a.Said = refusal.Status, true, func() string { return refusal.Words }
	case errors.As(err, &conflict):
		show(&a, u, conflict)
	case err != nil:
		return a, err
	default:
		t := c.service.Traits()
		a.Status, a.Version = cmp.Or(t.SuccessStatus.Update, http.StatusOK), it.Version
		for name := range u.Set {
			a.Values[name] = versioned(it, attrs[name])
		}
	}
	if a.Status == http.StatusNoContent {
		a = planning.Answer{Status: a.Status, Values: map[mapping.Attribute]mapping.Versioned{}, Said: a.Said, Foreign: true, Empty: true}
	}
	return a, nil
}

// show shows of a conflict what its shape does.
func show(a *planning.Answer, u *planning.Write, conflict *planningmodel.Conflict) {
	a.Status, a.Version = conflict.Status, conflict.Item.Version
	a.Said, a.IsError = conflict.Error, true
	shown := conflict.Names
	switch conflict.Shape {
	case planningmodel.ConflictItem:
		shown = []planningmodel.Attr{planningmodel.Title, planningmodel.Summary, planningmodel.Estimate}
		if !u.Card {
			shown = append(shown, planningmodel.State)
		}
	case planningmodel.ConflictErrors:
		a.Version = 0
	case planningmodel.ConflictEmpty:
		shown, a.Version, a.Said = nil, 0, func() string { return "version conflict" }
	case planningmodel.ConflictText:
		shown, a.Version, a.IsError, a.Foreign = nil, 0, false, true
	case planningmodel.ConflictAttributes, planningmodel.ConflictArray:
		a.IsError, a.Said = false, func() string { return "" }
	}
	for _, attr := range shown {
		a.Values[mapping.Attribute(attr.String())] = versioned(&conflict.Item, attr)
	}
}
