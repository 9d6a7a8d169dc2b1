package mapping

import "github.com/aymanbagabas/go-udiff"

// distance is the number of bytes that have to change to turn one text into the other.
func distance(from, to string) int {
	n := 0
	for _, e := range udiff.Strings(from, to) {
		n += e.End - e.Start + len(e.New)
	}
	return n
}
