package mapping

import "strings"

// Stretch is a part of a text that was compared with another one.
type Stretch struct {
	Text  string
	Alone bool // the other text does not have it here
}

// CompareWords splits each of two texts, by whole words, into stretches that both have and
// stretches that it has alone. The stretches of a text, in order, are the text. The time stays in
// proportion to the texts, so that stretches of very different texts may be longer than necessary.
func CompareWords(a, b string) (ofA, ofB []Stretch) {
	wordsOfA, wordsOfB := wordTokens(a), wordTokens(b)
	var left, right stretches
	at, other := 0, 0
	for _, e := range whole(wordsOfA, wordsOfB, diff(wordsOfA, wordsOfB)) {
		left.add(wordsOfA[at:e.from], false)
		right.add(wordsOfB[other:e.newFrom], false)
		left.add(wordsOfA[e.from:e.to], true)
		right.add(wordsOfB[e.newFrom:e.newTo], true)
		at, other = e.to, e.newTo
	}
	left.add(wordsOfA[at:], false)
	right.add(wordsOfB[other:], false)
	return left.list, right.list
}

// stretches joins consecutive stretches of one kind.
type stretches struct{ list []Stretch }

func (s *stretches) add(words []string, alone bool) {
	if len(words) == 0 {
		return
	}
	text := strings.Join(words, "")
	if last := len(s.list) - 1; last >= 0 && s.list[last].Alone == alone {
		s.list[last].Text += text
		return
	}
	s.list = append(s.list, Stretch{Text: text, Alone: alone})
}
