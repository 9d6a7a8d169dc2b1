package memstore

import "github.com/huandu/go-clone"

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
func copied[T any](v *T) *T { return clone.Clone(v).(*T) }
