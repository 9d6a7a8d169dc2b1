package seen

import (
	"reflect"
	"testing"
	"time"

	"planbridge/mapping"
)

// TestQuickHashesEverything: the quick hash moves with each field that the
// digest moves with, also with those that are added later.
func TestQuickHashesEverything(t *testing.T) {
	m := New("cards", 0)
	var c mapping.Card
	c.Counters = &mapping.Counters{}
	eachField(t, reflect.ValueOf(&c).Elem(), "card", func(name string, change func()) {
		digest, quick := mapping.DigestCard(WithoutTasks(&c)), m.QuickCard(&c)
		change()
		if (digest != mapping.DigestCard(WithoutTasks(&c))) != (quick != m.QuickCard(&c)) {
			t.Errorf("%s: digest and quick hash do not move together", name)
		}
	})
	var k mapping.Task
	eachField(t, reflect.ValueOf(&k).Elem(), "task", func(name string, change func()) {
		digest, quick := mapping.DigestTask(WithoutOwner(&k)), m.QuickTask(&k)
		change()
		if (digest != mapping.DigestTask(WithoutOwner(&k))) != (quick != m.QuickTask(&k)) {
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
	m := New("cards", 0)
	a := mapping.Card{Title: mapping.Versioned{Value: "ab"}, Summary: mapping.Versioned{Value: "c"}}
	b := mapping.Card{Title: mapping.Versioned{Value: "a"}, Summary: mapping.Versioned{Value: "bc"}}
	if m.QuickCard(&a) == m.QuickCard(&b) {
		t.Error("the same hash")
	}
}
