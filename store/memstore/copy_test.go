package memstore

import (
	"reflect"
	"testing"
	"time"

	"planbridge/mapping"
)

// TestCopiesShareNothing: a copy of a record, or of an entry of the ledger, equals it. A change of
// one leaves the other unchanged.
func TestCopiesShareNothing(t *testing.T) {
	t.Run("link", share[mapping.Link])
	t.Run("conflict", share[mapping.Conflict])
}

func share[T any](t *testing.T) {
	var v, same T
	fill(reflect.ValueOf(&v).Elem(), 1)
	fill(reflect.ValueOf(&same).Elem(), 1)
	got := copied(&v)
	if !reflect.DeepEqual(*got, v) {
		t.Errorf("the copy is %+v, want %+v", *got, v)
	}
	overwrite(reflect.ValueOf(got).Elem())
	if !reflect.DeepEqual(v, same) {
		t.Errorf("after the copy is changed: %+v, want %+v", v, same)
	}
}

// fill gives each field of a value something, two elements to each list, and one to each map.
func fill(v reflect.Value, n int64) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n+1)
		fill(v.Index(1), n+2)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n+1)
		fill(value, n+2)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if at, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
			*at = time.Unix(n, 0)
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n+int64(i))
		}
	case reflect.String:
		v.SetString(time.Duration(n).String())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(n)
	default:
		panic("fill a " + v.Type().String())
	}
}

// overwrite empties whatever a value leads to.
func overwrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		overwrite(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			overwrite(v.Index(i))
		}
	case reflect.Map:
		for of := v.MapRange(); of.Next(); {
			if value := of.Value(); value.Kind() == reflect.Pointer || value.Kind() == reflect.Slice {
				overwrite(value)
			}
		}
		v.Clear()
	case reflect.Struct:
		for _, field := range v.Fields() {
			if _, ok := reflect.TypeAssert[*time.Time](v.Addr()); !ok {
				overwrite(field)
			}
		}
	}
	if v.CanSet() {
		v.SetZero()
	}
}
