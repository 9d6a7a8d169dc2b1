package status

import (
	"time"

	"planbridge/mapping"
)

// Folding says that frequent edits towards a side wait to be written together.
type Folding struct {
	Side  string    `json:"side"`
	Item  string    `json:"item"` // acme/web#12
	Until time.Time `json:"until"`
}

// foldingOf lists the folded edits of a pair that wait.
func foldingOf(p *mapping.Pair) (out []Folding) {
	for _, side := range []mapping.Side{mapping.GitHub, mapping.Planning} {
		if f := p.Pace.Folds[side]; f.Held {
			out = append(out, Folding{Side: string(side), Item: where(p), Until: f.Until})
		}
	}
	return out
}
