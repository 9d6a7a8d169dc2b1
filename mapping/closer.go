package mapping

import "github.com/aymanbagabas/go-udiff"

// Closer reports whether a text is nearer to a than to b, by how many bytes
// have to change.
func Closer(text, a, b string) bool { return distance(a, text) < distance(b, text) }

func distance(from, to string) int {
	n := 0
	for _, e := range udiff.Strings(from, to) {
		n += e.End - e.Start + len(e.New)
	}
	return n
}
