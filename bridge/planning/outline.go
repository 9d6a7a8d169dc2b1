package planning

import "slices"

// outline has the positions of two members of a card before it is decoded.
type outline struct {
	id    span // the text of its id, without the quotes; empty where that has escapes
	order span // its position in the list
	last  bool // the position is the last member
}

type span struct{ from, till int }

// member notes a member of the card: its key begins at key, and its value at value.
func (o *outline) member(b []byte, key, value, end int) {
	o.last = false
	switch name := b[key:value]; {
	case isKey(name, `"_order"`):
		o.order, o.last = span{key, end}, true
	case isKey(name, `"_id"`):
		o.id = idOf(b, value, end)
	}
}

// isKey reports whether a member begins with a key. It compares words, without the call in
// bytes.HasPrefix.
func isKey(member []byte, key string) bool {
	return len(member) >= len(key) && string(member[:len(key)]) == key
}

// idOf finds the text of the id in the value from b[from] on.
func idOf(b []byte, from, till int) span {
	if b[from] == '{' {
		found := span{}
		skipMembers(b, from, 0, '}', func(b []byte, key, value, end int) {
			if isKey(b[key:value], `"$oid"`) {
				found = span{value, end}
			}
		})
		from, till = found.from, found.till
	}
	if till-from < 2 || b[from] != '"' || !literal(b[from+1:till-1]) {
		return span{}
	}
	return span{from + 1, till - 1}
}

// skip skips a value, and notes the members of an object.
func (o *outline) skip(b []byte) int {
	*o = outline{}
	if len(b) > 0 && b[0] == '{' {
		return skipMembers(b, 0, 0, '}', o.member)
	}
	return anyValue(b)
}

// withoutOrder removes the card's position from its text, as a card put before others changes all
// their positions. It changes the text itself, and returns it with the card's id, a part of it.
func (o *outline) withoutOrder(text []byte) (rest, id []byte) {
	from, till := o.order.from, o.order.till
	switch {
	case till == 0:
		return text, text[o.id.from:o.id.till]
	case !o.last:
		till = space(text, till) + 1 // the comma after it
	default:
		for from--; text[from] != ',' && text[from] != '{'; from-- {
		}
		if text[from] == '{' {
			from++
		}
	}
	shift := 0
	if from < len(text)-till {
		shift = till - from
		copy(text[shift:till], text[:from])
		rest = text[shift:]
	} else {
		rest = slices.Delete(text, from, till)
	}
	at := o.id
	if at.from >= till {
		at.from, at.till = at.from-(till-from), at.till-(till-from)
	}
	return rest, rest[at.from:at.till]
}
