package planningtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// object is a JSON object.
type object map[string]any

// versioned is the shape of most attributes (part 2.1).
type versioned struct {
	Value   any    `json:"value"`
	Version int64  `json:"version"`
	Unknown string `json:"modifiedBy,omitempty"` // see Traits.UnknownFields
}

// wire writes resources in the form that the traits say.
type wire struct {
	t    Traits
	now  time.Time
	html bool // summaries carry their html
}

const timestamp = "2006-01-02T15:04:05.000Z"

func stamp(t time.Time) string { return t.UTC().Format(timestamp) }

func date(t time.Time) object { return object{"$date": stamp(t)} }

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
	var c counters
	json.Unmarshal([]byte(text), &c) //nolint:errcheck // it is what counters.text made
	n := func(i int) any {
		if w.t.FloatNumbers {
			return json.Number(fmt.Sprintf("%d.0", i))
		}
		return i
	}
	out := object{"done": n(c.Done), "todo": n(c.Todo), "inProgress": n(c.InProgress), "total": n(c.total())}
	if withStatus {
		out["status"] = c.status()
	}
	return out
}

func (w *wire) richText(it *item) any {
	text := it.attrs[summary].value
	switch {
	case text != "" || w.t.EmptySummary == EmptyObject:
		out := object{"markdown": text}
		if w.html && w.t.HTMLInAnswers != HTMLNever {
			out["html"] = it.html
		}
		return out
	case w.t.EmptySummary == EmptyNull:
		return nil
	}
	return ""
}

// value writes an attribute of an item.
func (w *wire) value(it *item, name attrName) versioned {
	a := &it.attrs[name]
	var v any
	switch name {
	case summary:
		v = w.richText(it)
	case estimate, taskEstimate:
		v = w.estimate(a.value)
	case iteration:
		v = w.oid(a.value)
	case state:
		v = a.value
		if it.kind == card {
			v = w.oid(a.value)
		}
	case taskCounters, itemCounters:
		v = w.counters(a.value, it.kind == card || !w.t.OmitOptional)
	case review:
		if v = a.value; a.value == "" {
			v = nil
		}
	case startDate:
		v = date(it.start)
	case endDate:
		v = date(it.end)
	default:
		v = a.value
	}
	return w.attr(v, a.version)
}

// put writes attributes of an item into an object.
func (w *wire) put(out object, it *item, names ...attrName) {
	for _, name := range names {
		out[attrNames[name]] = w.value(it, name)
	}
}

func (w *wire) resource(p *Project, it *item) object {
	out := object{"_id": w.oid(it.id), "version": it.version, "project": w.constant(w.oid(p.id))}
	if it.kind != sprint {
		out["cid"] = it.cid
	}
	if w.t.UnknownFields {
		out["milestone"] = w.constant(nil)
		out["value"] = w.attr(3, 1)
		out["nonWorkingDays"] = w.constant([]any{object{"day": 6}, "2014-12-24", nil})
	}
	return out
}

// card writes a card; inSprint is for a sprint's listing.
func (w *wire) card(p *Project, c *item, inSprint bool) object {
	out := w.resource(p, c)
	w.put(out, c, title, summary, estimate, iteration, review, order, taskCounters)
	w.totals(out)
	out["owner"] = w.constant(nil)
	out["state"] = w.cardState(c)
	out["isStandaloneTP"] = c.placeholder
	out["type"] = w.constant(object{"version": 0})
	if c.placeholder {
		out["type"] = w.constant("")
	}
	if inSprint {
		w.put(out, c, taskEstimate)
	}
	return out
}

func (w *wire) totals(out object) {
	out["ownerType"] = w.constant(nil)
	out["totalAttachments"] = w.constant(0)
	out["totalComments"] = w.constant(0)
	out["totalDiscussions"] = w.constant(0)
}

// cardState is the id of the bucket; for a card that left the backlog for a
// sprint it is a word about its tasks, or null.
func (w *wire) cardState(c *item) versioned {
	v := w.value(c, state)
	if c.attrs[iteration].value != "" && !w.t.SprintCardsInBacklog {
		v.Value = nil
		if status := countTasks(c).status(); status != "" {
			v.Value = status
		}
	}
	return v
}

func (w *wire) task(p *Project, t *item) object {
	out := w.resource(p, t)
	w.put(out, t, title, summary, estimate, state, order)
	out["owner"] = w.constant(w.oid(t.card.id))
	out["ownerType"] = w.constant("item")
	out["type"] = w.constant(nil)
	out["timeEntriesTotal"] = len(t.log)
	return out
}

// sprintTask writes a task as a sprint's items show it: a card's fields and
// who works on it.
func (w *wire) sprintTask(p *Project, t *item) object {
	out := w.task(p, t)
	w.put(out, t.card, iteration)
	w.totals(out)
	out["iterationReview"] = w.constant(nil)
	out["taskCounters"] = w.constant(nil)
	out["taskEstimate"] = w.constant(nil)
	out["isStandaloneTP"] = false
	remaining, users := []object{}, []object{}
	for _, r := range t.log {
		remaining = append(remaining, object{"duration": r.hours, "when": date(r.when), "who": r.who})
	}
	for _, u := range t.users {
		users = append(users, object{"user": u.user, "when": date(u.when), "who": u.who})
	}
	out["timeRemaining"], out["users"] = remaining, users
	return out
}

func (w *wire) sprint(p *Project, sp *item) object {
	out := w.resource(p, sp)
	w.put(out, sp, title, estimate, itemCounters, taskCounters, taskEstimate, startDate, endDate)
	out["summary"] = w.attr(sp.attrs[summary].value, sp.attrs[summary].version)
	if w.t.UnknownFields { // real data also showed rich text here
		out["summary"] = w.value(sp, summary)
	}
	out["isFuture"] = w.now.Before(sp.start)
	out["isPast"] = w.now.After(sp.end)
	out["isActive"] = !w.now.Before(sp.start) && !w.now.After(sp.end)
	return out
}

func (w *wire) bucket(b *bucket) object {
	id := b.id
	if w.t.BucketIDsDiffer {
		id = b.listingID
	}
	return object{"bucket": b.title, "id": w.oid(id)}
}

// numbered gives the elements of a list their _order.
func numbered(list []object) []object {
	for i, o := range list {
		o["_order"] = i
	}
	return list
}
