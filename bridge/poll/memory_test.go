package poll

import (
	"hash/maphash"
	"reflect"
	"testing"
	"time"

	"planbridge/mapping"
)

// TestQuickHashesEverything: the quick hash moves with each field that the
// digest moves with, also with those that are added later.
func TestQuickHashesEverything(t *testing.T) {
	m := &cardCache{seed: maphash.MakeSeed()}
	var c mapping.Card
	c.Counters = &mapping.Counters{}
	eachField(t, reflect.ValueOf(&c).Elem(), "card", func(name string, change func()) {
		digest, quick := mapping.DigestCard(withoutTasks(&c)), m.quickCard(&c)
		change()
		if (digest != mapping.DigestCard(withoutTasks(&c))) != (quick != m.quickCard(&c)) {
			t.Errorf("%s: digest and quick hash do not move together", name)
		}
	})
	var k mapping.Task
	eachField(t, reflect.ValueOf(&k).Elem(), "task", func(name string, change func()) {
		digest, quick := mapping.DigestTask(withoutOwner(&k)), m.quickTask(&k)
		change()
		if (digest != mapping.DigestTask(withoutOwner(&k))) != (quick != m.quickTask(&k)) {
			t.Errorf("%s: digest and quick hash do not move together", name)
		}
	})
}

// eachField calls visit with a change of each field in turn.
func eachField(t *testing.T, v reflect.Value, name string, visit func(name string, change func())) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			visit(name, func() { v.Set(reflect.ValueOf(time.Unix(1, 0))) })
			return
		}
		for i := range v.NumField() {
			eachField(t, v.Field(i), name+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Pointer:
		eachField(t, v.Elem(), name, visit)
	case reflect.String:
		visit(name, func() { v.SetString("changed") })
	case reflect.Int64:
		visit(name, func() { v.SetInt(1) })
	case reflect.Float64:
		visit(name, func() { v.SetFloat(0.5) })
	case reflect.Bool:
		visit(name, func() { v.SetBool(true) })
	case reflect.Slice:
		visit(name, func() { v.Set(reflect.MakeSlice(v.Type(), 1, 1)) })
	case reflect.Map:
		visit(name, func() { v.Set(reflect.MakeMap(v.Type())) })
	default:
		t.Fatalf("%s: no change is known for a %s", name, v.Kind())
	}
}

// TestQuickDoesNotMixFields: text that moves from one field to the next is a
// change.
func TestQuickDoesNotMixFields(t *testing.T) {
	m := &cardCache{seed: maphash.MakeSeed()}
	a := mapping.Card{Title: mapping.Versioned{Value: "ab"}, Summary: mapping.Versioned{Value: "c"}}
	b := mapping.Card{Title: mapping.Versioned{Value: "a"}, Summary: mapping.Versioned{Value: "bc"}}
	if m.quickCard(&a) == m.quickCard(&b) {
		t.Error("the same hash")
	}
}

// TestUnchangedDoesNotAllocate: what is asked of each of 100,000 cards in each
// round.
func TestUnchangedDoesNotAllocate(t *testing.T) {
	c := mapping.Card{ID: "a", Bucket: "b", BucketName: "Incoming", Summary: mapping.Versioned{Value: "text"}}
	m := &cardCache{seed: maphash.MakeSeed(), items: map[mapping.ObjectID]*cacheEntry{}}
	m.put(c.ID, cacheEntry{digest: mapping.DigestCard(&c), quick: m.quickCard(&c)})
	r := &round{Poller: &Poller{cards: m}, roles: map[bucketName]bucketRole{}}
	n := testing.AllocsPerRun(100, func() {
		if !r.unchanged(t.Context(), &c, backlogListing) {
			t.Error("it changed")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
