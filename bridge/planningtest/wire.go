package planningtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"planbridge/bridge/planningtest/planningmodel"
)

// object is a JSON object.
type object map[string]any

// versioned is the shape of most attributes (part 2.1).
type versioned struct {
	Value   any    `json:"value"`
	Version int64  `json:"version"`
	Unknown string `json:"modifiedBy,omitempty"` // see Traits.UnknownFields
}

// wire writes resources in the form of the traits.
type wire struct {
	t    Traits
	html bool // summaries carry their html
}

func date(t time.Time) object { return object{"$date": planningmodel.Timestamp(t)} }

func (w *wire) oid(id string) any {
	switch {
	case id == "":
		return nil
	case w.t.BareOIDs:
		return id
	}
	return object{"$oid": id}
}

func (w *wire) attr(value any, version int64) versioned {
	v := versioned{Value: value, Version: version}
	if w.t.UnknownFields {
		v.Unknown = "somebody"
	}
	return v
}

// constant is an attribute that never changes in the simulator.
func (w *wire) constant(value any) versioned { return w.attr(value, 0) }

// estimate writes a number that is kept as text.
func (w *wire) estimate(text string) any {
	switch {
	case text == "":
		return nil
	case w.t.NumericStrings:
		return text
	case w.t.FloatNumbers && !strings.Contains(text, "."):
		return json.Number(text + ".0")
	}
	return json.Number(text)
}

func (w *wire) counters(text string, withStatus bool) any {
	if text == "" {
		return nil
	}
	c := planningmodel.ParseCounters(text)
	n := func(i int) any {
		if w.t.FloatNumbers {
			return json.Number(fmt.Sprintf("%d.0", i))
		}
		return i
	}
	out := object{"done": n(c.Done), "todo": n(c.Todo), "inProgress": n(c.InProgress), "total": n(c.Total())}
	if withStatus {
		out["status"] = c.Status()
	}
	return out
}

func (w *wire) richText(it *planningmodel.Item) any {
	text := it.Attrs[planningmodel.Summary].Value
	switch {
	case text != "" || w.t.EmptySummary == EmptyObject:
		out := object{"markdown": text}
		if w.html && w.t.HTMLInAnswers != HTMLNever {
			out["html"] = it.HTML
		}
		return out
	case w.t.EmptySummary == EmptyNull:
		return nil
	}
	return ""
}

// value writes an attribute of an item.
func (w *wire) value(it *planningmodel.Item, name planningmodel.Attr) versioned {
	a := &it.Attrs[name]
	var v any
	switch name {
	case planningmodel.Summary:
		v = w.richText(it)
	case planningmodel.Estimate, planningmodel.TaskEstimate:
		v = w.estimate(a.Value)
	case planningmodel.Iteration:
		v = w.oid(a.Value)
	case planningmodel.State:
		v = a.Value
		if it.Kind == planningmodel.KindCard {
			v = w.oid(a.Value)
		}
	case planningmodel.TaskCounters, planningmodel.ItemCounters:
		v = w.counters(a.Value, w.t.ShowsStatus(it))
	case planningmodel.Review:
		if v = a.Value; a.Value == "" {
			v = nil
		}
	case planningmodel.StartDate:
		v = date(it.Start)
	case planningmodel.EndDate:
		v = date(it.End)
	default:
		v = a.Value
	}
	return w.attr(v, a.Version)
}

// put writes attributes of an item into an object.
func (w *wire) put(out object, it *planningmodel.Item, names ...planningmodel.Attr) {
	for _, name := range names {
		out[name.String()] = w.value(it, name)
	}
}

func (w *wire) resource(project string, it *planningmodel.Item) object {
	out := object{"_id": w.oid(it.ID), "version": it.Version, "project": w.constant(w.oid(project))}
	if it.Kind != planningmodel.KindSprint {
		out["cid"] = it.CID
	}
	if w.t.UnknownFields {
		out["milestone"] = w.constant(nil)
		out["value"] = w.attr(3, 1)
		out["nonWorkingDays"] = w.constant([]any{object{"day": 6}, "2014-12-24", nil})
	}
	return out
}

// card writes a card; inSprint is for a sprint's listing.
func (w *wire) card(project string, c *planningmodel.Item, inSprint bool) object {
	out := w.resource(project, c)
	w.put(out, c, planningmodel.Title, planningmodel.Summary, planningmodel.Estimate, planningmodel.Iteration, planningmodel.Review, planningmodel.Order, planningmodel.TaskCounters)
	w.totals(out)
	out["owner"] = w.constant(nil)
	out["state"] = w.cardState(c)
	out["isStandaloneTP"] = c.Placeholder
	out["type"] = w.constant(object{"version": 0})
	if c.Placeholder {
		out["type"] = w.constant("")
	}
	if inSprint {
		w.put(out, c, planningmodel.TaskEstimate)
	}
	return out
}

func (w *wire) totals(out object) {
	out["ownerType"] = w.constant(nil)
	out["totalAttachments"] = w.constant(0)
	out["totalComments"] = w.constant(0)
	out["totalDiscussions"] = w.constant(0)
}

// cardState is the id of the bucket. For a card that left the backlog for a sprint it is a word
// about its tasks, or null.
func (w *wire) cardState(c *planningmodel.Item) versioned {
	v := w.value(c, planningmodel.State)
	if bucket, word := w.t.ShownState(c); word != "" {
		v.Value = word
	} else {
		v.Value = w.oid(bucket)
	}
	return v
}

func (w *wire) task(project string, t *planningmodel.Item) object {
	out := w.resource(project, t)
	w.put(out, t, planningmodel.Title, planningmodel.Summary, planningmodel.Estimate, planningmodel.State, planningmodel.Order)
	out["owner"] = w.constant(w.oid(t.Card))
	out["ownerType"] = w.constant("item")
	out["type"] = w.constant(nil)
	out["timeEntriesTotal"] = len(t.Remaining)
	return out
}

// sprintTask writes a task as a sprint's items show it: a card's fields and the assigned people.
func (w *wire) sprintTask(project string, t *planningmodel.Item) object {
	out := w.task(project, t)
	w.put(out, t, planningmodel.Iteration)
	w.totals(out)
	out["iterationReview"] = w.constant(nil)
	out["taskCounters"] = w.constant(nil)
	out["taskEstimate"] = w.constant(nil)
	out["isStandaloneTP"] = false
	remaining, users := []object{}, []object{}
	for _, r := range t.Remaining {
		remaining = append(remaining, object{"duration": r.Hours, "when": date(r.When), "who": r.Who})
	}
	for _, u := range t.Users {
		users = append(users, object{"user": u.User, "when": date(u.When), "who": u.Who})
	}
	out["timeRemaining"], out["users"] = remaining, users
	return out
}

func (w *wire) sprint(project string, sp *planningmodel.Item) object {
	out := w.resource(project, sp)
	w.put(out, sp, planningmodel.Title, planningmodel.Estimate, planningmodel.ItemCounters, planningmodel.TaskCounters, planningmodel.TaskEstimate, planningmodel.StartDate, planningmodel.EndDate)
	out["summary"] = w.attr(sp.Attrs[planningmodel.Summary].Value, sp.Attrs[planningmodel.Summary].Version)
	if w.t.UnknownFields { // real data also showed rich text here
		out["summary"] = w.value(sp, planningmodel.Summary)
	}
	out["isFuture"], out["isActive"], out["isPast"] = sp.Future, sp.Active, sp.Past
	return out
}

func (w *wire) bucket(b planningmodel.Bucket) object {
	return object{"bucket": b.Title, "id": w.oid(w.t.ListedID(b))}
}

// numbered gives the elements of a list their _order.
func numbered(list []object) []object {
	for i, o := range list {
		o["_order"] = i
	}
	return list
}
