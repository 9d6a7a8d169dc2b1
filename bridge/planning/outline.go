package planning

import "slices"

// outline is what is known of a card before it is decoded: where two of its members are.
type outline struct {
	id    span // of the text of its id, without the quotes; empty where that has escapes
	order span // of its place in the list
	last  bool // which is the last member
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

// isKey reports whether a member begins with a key. bytes.HasPrefix calls what compares, and
// this one compares words.
func isKey(member []byte, key string) bool {
	return len(member) >= len(key) && string(member[:len(key)]) == key
}

// idOf finds the text of the id that the value from b[from] on is.
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

// withoutOrder takes the card's place in its list off its text: a card that is put before
// others changes the place of all of them. It changes the text itself, and returns it with
// the card's id, a part of it.
func (o *outline) withoutOrder(text []byte) (rest, id []byte) {
	from, till := o.order.from, o.order.till
	switch {
	case till == 0:
		return text, text[o.id.from:o.id.till]
	case !o.last:
		till = space(text, till) + 1 // the comma behind it
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
