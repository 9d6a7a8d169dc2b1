package mapping

import "github.com/aymanbagabas/go-udiff"

// distance is how many bytes have to change to make one text of the other.
func distance(from, to string) int {
	n := 0
	for _, e := range udiff.Strings(from, to) {
		n += e.End - e.Start + len(e.New)
	}
	return n
}
