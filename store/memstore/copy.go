package memstore

import (
	"fmt"
	"reflect"
	"sync"
	"time"
)

// decoded is a stored text with the value that it was read as, once somebody asked for it.
// Copies of the content share it, as nobody changes the value.
type decoded[T any] struct{ value *T }

// get returns a copy of the value of its own. decode reads it the first time.
func (d *decoded[T]) get(decode func(*T) error) (*T, error) {
	if d.value == nil {
		v := new(T)
		if err := decode(v); err != nil {
			return nil, err
		}
		d.value = v
	}
	return copied(d.value), nil
}

// copied returns a copy of a value that shares nothing with it.
func copied[T any](v *T) *T {
	out := *v
	planOf(reflect.TypeFor[T]()).part(reflect.ValueOf(&out).Elem())
	return &out
}

// plan is how a value that was copied by assignment is parted from the one before.
type plan struct{ part func(reflect.Value) }

var plans sync.Map // of *plan by reflect.Type

// planOf is the plan of a type; its part does nothing where assignment is enough.
func planOf(t reflect.Type) *plan {
	if known, ok := plans.Load(t); ok {
		return known.(*plan)
	}
	made := partOf(t)
	if made == nil {
		made = func(reflect.Value) {}
	}
	known, _ := plans.LoadOrStore(t, &plan{made})
	return known.(*plan)
}

// partOf makes the function of a plan; nil: assignment is enough.
func partOf(t reflect.Type) func(reflect.Value) {
	if isFlat(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return func(v reflect.Value) {
			if !v.IsNil() {
				to := reflect.New(t.Elem())
				to.Elem().Set(v.Elem())
				planOf(t.Elem()).part(to.Elem())
				v.Set(to)
			}
		}
	case reflect.Slice:
		return partSlice(t)
	case reflect.Map:
		return partMap(t)
	case reflect.Struct:
		return partStruct(t)
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		panic(fmt.Sprintf("memstore: a stored value has a %s", t))
	}
	return nil
}

func partSlice(t reflect.Type) func(reflect.Value) {
	flat := isFlat(t.Elem())
	return func(v reflect.Value) {
		if v.IsNil() {
			return
		}
		to := reflect.MakeSlice(t, v.Len(), v.Len())
		reflect.Copy(to, v)
		for i := 0; !flat && i < to.Len(); i++ {
			planOf(t.Elem()).part(to.Index(i))
		}
		v.Set(to)
	}
}

func partMap(t reflect.Type) func(reflect.Value) {
	return func(v reflect.Value) {
		if v.IsNil() {
			return
		}
		to := reflect.MakeMapWithSize(t, v.Len())
		for of := v.MapRange(); of.Next(); {
			value := reflect.New(t.Elem()).Elem()
			value.Set(of.Value())
			planOf(t.Elem()).part(value)
			to.SetMapIndex(of.Key(), value)
		}
		v.Set(to)
	}
}

func partStruct(t reflect.Type) func(reflect.Value) {
	var fields []int
	for i := range t.NumField() {
		if !isFlat(t.Field(i).Type) {
			fields = append(fields, i)
		}
	}
	return func(v reflect.Value) {
		for _, i := range fields {
			planOf(t.Field(i).Type).part(v.Field(i))
		}
	}
}

// isFlat reports whether a value of a type shares nothing with one that it is assigned to.
// Of a time only the place is shared, which nobody changes.
func isFlat(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return true
		}
		for field := range t.Fields() {
			if !isFlat(field.Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return isFlat(t.Elem())
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return false
	}
	return true
}
