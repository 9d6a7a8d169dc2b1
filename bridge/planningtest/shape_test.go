package planningtest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/planningtest"
)

// The shapes of part 2 of the service's document, widened by real data. These are the forms that a
// client has to take, and no more.

type shape func(v any) bool

var (
	oidText  = regexp.MustCompile(`^[0-9a-f]{24}$`)
	dateText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
)

func isString(v any) bool { _, ok := v.(string); return ok }

func isBool(v any) bool { _, ok := v.(bool); return ok }

func isNull(v any) bool { return v == nil }

func isNumber(v any) bool { _, ok := v.(json.Number); return ok }

func isInt(v any) bool {
	n, ok := v.(json.Number)
	return ok && !strings.Contains(n.String(), ".")
}

func isNumeric(v any) bool {
	text, ok := v.(string)
	return isNumber(v) || ok && json.Valid([]byte(text))
}

func isOID(v any) bool {
	if m, ok := v.(map[string]any); ok && len(m) == 1 {
		v = m["$oid"]
	}
	text, ok := v.(string)
	return ok && oidText.MatchString(text)
}

func isDate(v any) bool {
	m, ok := v.(map[string]any)
	text, isText := m["$date"].(string)
	return ok && len(m) == 1 && isText && dateText.MatchString(text)
}

func isDateText(v any) bool { return isString(v) && dateText.MatchString(v.(string)) }

func isRichText(v any) bool {
	m, ok := v.(map[string]any)
	return v == nil || v == "" || ok && isString(m["markdown"]) && (m["html"] == nil || isString(m["html"]))
}

func isCounters(v any) bool {
	m, ok := v.(map[string]any)
	return ok && isNumber(m["done"]) && isNumber(m["todo"]) && isNumber(m["inProgress"]) && isNumber(m["total"])
}

func isOrder(v any) bool {
	return isString(v) && regexp.MustCompile(`^\d{9}\.\d$`).MatchString(v.(string))
}

func isState(v any) bool { return v == "todo" || v == "in-progress" || v == "done" }

func either(shapes ...shape) shape {
	return func(v any) bool {
		for _, s := range shapes {
			if s(v) {
				return true
			}
		}
		return false
	}
}

func attrOf(value shape) shape {
	return func(v any) bool {
		m, ok := v.(map[string]any)
		return ok && isInt(m["version"]) && value(m["value"])
	}
}

func listOf(element shape) shape {
	return func(v any) bool {
		list, ok := v.([]any)
		for _, e := range list {
			ok = ok && element(e)
		}
		return ok
	}
}

type fields map[string]shape

// check says what is wrong with an object; a name that ends in ? may be
// absent.
func (f fields) check(v any) (faults []string) {
	m, ok := v.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("no object: %v", v)}
	}
	for name, s := range f {
		name, optional := strings.CutSuffix(name, "?")
		value, there := m[name]
		if !there && !optional || there && !s(value) {
			faults = append(faults, fmt.Sprintf("%s: %v", name, value))
		}
	}
	return faults
}

func (f fields) shape(v any) bool { return len(f.check(v)) == 0 }

var (
	project = fields{
		"_id": isOID, "activityCounter": attrOf(isInt), "startDate": attrOf(isDateText), "endDate": attrOf(isDateText),
		"backlogBuckets": attrOf(listOf(fields{"title": isString, "id": isOID}.shape)),
		"integrations":   fields{"api": fields{"enabled": isBool}.shape}.shape,
		"owner":          attrOf(isString), "summary": attrOf(isString), "timezone": attrOf(isString),
		"title": attrOf(isString), "type": attrOf(isString), "version": isInt,
		"userCounters": attrOf(fields{"total": isInt, "observers": isInt, "participants": isInt}.shape),
	}
	bucketShape = fields{"bucket": isString, "id": isOID}
	cardShape   = fields{
		"_id": isOID, "cid": isInt, "estimate": attrOf(either(isNull, isNumeric)), "isStandaloneTP": isBool,
		"iteration": attrOf(either(isNull, isOID)), "iterationReview": attrOf(either(isNull, isString)),
		"order": attrOf(isOrder), "owner?": attrOf(either(isNull, isOID)), "ownerType?": attrOf(either(isNull, isString)),
		"project": attrOf(isOID), "state": attrOf(either(isNull, isOID, isState)), "summary": attrOf(isRichText),
		"taskCounters": attrOf(either(isNull, isCounters)), "taskEstimate?": attrOf(either(isNull, isNumeric)),
		"title": attrOf(isString), "totalAttachments": attrOf(isInt), "totalComments": attrOf(either(isNull, isInt)),
		"totalDiscussions": attrOf(either(isNull, isInt)), "version": isInt, "_order?": isInt,
		"type?": attrOf(either(isNull, isString, fields{"version": isInt}.shape)),
	}
	taskShape = fields{
		"_id": isOID, "version": isInt, "cid": isInt, "project": attrOf(isOID), "owner?": attrOf(isOID),
		"ownerType?": attrOf(either(isNull, isString)), "title": attrOf(isString), "summary": attrOf(isRichText),
		"estimate": attrOf(either(isNull, isNumeric)), "type?": attrOf(isNull), "state": attrOf(isState),
		"order": attrOf(isOrder), "timeEntriesTotal?": isNumber, "_order?": isInt,
	}
	sprintShape = fields{
		"_id": isOID, "startDate": attrOf(isDate), "endDate": attrOf(isDate), "estimate": attrOf(either(isNull, isNumeric)),
		"itemCounters": attrOf(either(isNull, isCounters)), "project": attrOf(isOID), "summary": attrOf(isRichTextOrString),
		"taskCounters": attrOf(either(isNull, isCounters)), "taskEstimate": attrOf(either(isNull, isNumeric)),
		"title": attrOf(isString), "version": isInt, "_order?": isInt, "isFuture": isBool, "isActive": isBool, "isPast": isBool,
	}
	entryShape = fields{
		"timeRemaining": listOf(fields{"duration": isNumber, "when": isDate, "who": isString}.shape),
		"users":         listOf(fields{"when": isDate, "who": isString, "user": isString}.shape),
	}
	burndownShape = fields{
		"_id": isOID, "numDays": isInt, "originalEstimate": isNumber, "timeRemaining": listOf(isNumber),
		"when": isDate, "startDate": isDate, "endDate": isDate,
		"items": listOf(fields{"cid": isInt, "originalEstimate": isNumber, "timeRemaining": listOf(isNumber), "title": isString}.shape),
	}
)

func isRichTextOrString(v any) bool { return isRichText(v) || isString(v) }

func (f fields) and(o fields) fields {
	both := fields{}
	for _, part := range []fields{f, o} {
		maps.Copy(both, part)
	}
	return both
}

// randomTraits switches everything that may change how answers look.
func randomTraits(rng *rand.Rand) traits {
	flip := func() bool { return rng.IntN(2) == 0 }
	return traits{
		EmptySummary:   []planningtest.EmptySummary{"", planningtest.EmptyNull, planningtest.EmptyObject}[rng.IntN(3)],
		HTMLInAnswers:  []planningtest.HTMLInAnswers{"", planningtest.HTMLAlways, planningtest.HTMLNever}[rng.IntN(3)],
		SprintForm:     []planningtest.SprintForm{"", planningtest.SprintNested, planningtest.SprintBoth}[rng.IntN(3)],
		NumericStrings: flip(), FloatNumbers: flip(), BareOIDs: flip(), UnknownFields: flip(), OmitOptional: flip(),
		SprintCardsInBacklog: flip(), BucketIDsDiffer: flip(), NormaliseMarkdown: flip(), CreateEstimateVersion1: flip(),
		StateVersionSticks: flip(), StateVersionKept: flip(), SameValueRaisesVersion: flip(),
	}
}

// TestEveryAnswerHasItsShape holds all sixteen endpoints to the document,
// whatever the traits.
func TestEveryAnswerHasItsShape(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 15 {
		w := newWorld(t, planningtest.Options{Traits: randomTraits(rng)})
		all := func(r reply, f fields) {
			t.Helper()
			list, ok := r.json.([]any)
			if !ok || len(list) == 0 {
				t.Errorf("no list: %s", r.text)
			}
			for _, v := range list {
				for _, fault := range f.check(v) {
					t.Error(fault)
				}
			}
		}
		one := func(r reply, f fields) {
			t.Helper()
			for _, fault := range f.check(r.json) {
				t.Error(fault)
			}
		}
		sp := w.p.NewSprint(planningtest.SprintSpec{Title: "S", Start: time.Now(), End: time.Now().AddDate(0, 0, 9)})
		items := w.bucketPath("Incoming")
		one(w.post(items, `{"username":"bridge","title":{"value":"A"},"estimate":{"value":2}}`), cardShape)
		all(w.post(items, `[{"username":"bridge"},{"username":"alice","summary":{"value":{"markdown":"x"}}}]`), cardShape)
		id, planned := w.p.Cards()[0].ID, w.p.Cards()[1].ID
		w.p.MoveToSprint(planned, sp)
		one(w.post("/items/"+planned+"/tasks", `{"username":"bridge","title":{"value":"T"}}`), taskShape)
		all(w.post("/items/"+planned+"/tasks", `[{"username":"bridge","estimate":{"value":0.25}}]`), taskShape)
		task := w.p.Tasks(planned)[0].ID
		w.p.LogTime(task, "alice", 2)
		one(w.put("/items/"+id, `{"username":"bridge","title":{"value":"B","version":-1},"summary":{"value":{"markdown":"y"},"version":-1}}`),
			fields{
				"_id": isOID, "version": isInt, "title": cardShape["title"], "summary": cardShape["summary"],
				"iteration": cardShape["iteration"], "project": cardShape["project"], "state": cardShape["state"],
			})
		one(w.put("/tasks/"+task, `{"username":"bridge","state":{"value":"done","version":0}}`),
			fields{"_id": isOID, "version": isInt, "state": taskShape["state"], "owner": taskShape["owner?"], "project": taskShape["project"]})
		one(w.get(""), project)
		all(w.get("/backlog/items"), bucketShape.and(fields{"items": listOf(cardShape.shape)}))
		all(w.get("/backlog/buckets"), bucketShape)
		one(w.get("/backlog/buckets/"+w.p.BucketID("Bugs")), bucketShape)
		all(w.get(items), cardShape)
		all(w.get("/iterations"), sprintShape)
		one(w.get("/iterations/"+sp), sprintShape)
		one(w.get("/iterations/"+sp+"/items").in(t, 0), cardShape.and(fields{"tasks?": listOf(taskShape.and(entryShape).shape)}))
		all(w.get("/iterations/"+sp+"/items"), fields{"_id": isOID, "title": attrOf(isString), "timeRemaining?": entryShape["timeRemaining"]})
		one(w.get("/iterations/"+sp+"/burndown-chart"), burndownShape)
		one(w.get("/items/"+id), cardShape)
		all(w.get("/items/"+planned+"/tasks"), taskShape)
		one(w.get("/tasks/"+task), taskShape)
		w.s.Close()
		if t.Failed() {
			t.Fatal("see the seed above")
		}
	}
}

// in is one element of a list.
func (r reply) in(t *testing.T, i int) reply {
	t.Helper()
	if i >= r.len() {
		t.Fatalf("no element %d in %s", i, r.text)
	}
	r.json = r.json.([]any)[i]
	return r
}
