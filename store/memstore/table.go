package memstore

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"iter"
	"slices"
	"unicode/utf8"
)

// table is an ordered map. Its values never change in place, so that a copy of the table shares
// them.
type table[V any] struct{ rows []row[V] }

type row[V any] struct {
	key   string
	value V
}

// MarshalJSON implements json.Marshaler. A key that is no valid UTF-8 is in hexadecimal.
func (r row[V]) MarshalJSON() ([]byte, error) {
	if !utf8.ValidString(r.key) {
		return json.Marshal([]any{"hex", hex.EncodeToString([]byte(r.key)), r.value})
	}
	return json.Marshal([]any{r.key, r.value})
}

// MarshalJSON implements json.Marshaler: the rows in their order.
func (t table[V]) MarshalJSON() ([]byte, error) { return json.Marshal(t.rows) }

func (t *table[V]) find(key string) (int, bool) {
	return slices.BinarySearchFunc(t.rows, key, func(r row[V], key string) int { return cmp.Compare(r.key, key) })
}

// get returns the value of a key, or the zero value.
func (t *table[V]) get(key string) (value V, ok bool) {
	i, ok := t.find(key)
	if ok {
		value = t.rows[i].value
	}
	return value, ok
}

func (t *table[V]) put(key string, value V) {
	i, ok := t.find(key)
	if ok {
		t.rows[i].value = value
		return
	}
	t.rows = slices.Insert(t.rows, i, row[V]{key, value})
}

func (t *table[V]) remove(key string) {
	if i, ok := t.find(key); ok {
		t.rows = slices.Delete(t.rows, i, i+1)
	}
}

// ascend visits the rows from a key on. The caller may not put or remove meanwhile.
func (t *table[V]) ascend(from string) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		first, _ := t.find(from)
		for _, r := range t.rows[first:] {
			if !yield(r.key, r.value) {
				return
			}
		}
	}
}

// before visits the rows before a key in reverse order; "" is after all.
func (t *table[V]) before(key string) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		end := len(t.rows)
		if key != "" {
			end, _ = t.find(key)
		}
		for _, r := range slices.Backward(t.rows[:end]) {
			if !yield(r.key, r.value) {
				return
			}
		}
	}
}

func (t *table[V]) clone() table[V] { return table[V]{slices.Clone(t.rows)} }
