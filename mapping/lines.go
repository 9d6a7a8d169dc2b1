package mapping

import "slices"

// keptLines is the number of bodies whose lines are kept, beside those of the base. These are the
// current body, and bodies that writes of unknown outcome may have made.
const keptLines = 3

// Lines says which checklist lines of one body stand for tasks, by their places
// from 1. The others are text.
type Lines struct {
	Body  string `json:"body"` // its digest
	Tasks []int  `json:"tasks,omitempty"`
}

// LineSet is a set of places of checklist lines; nil: all of them.
type LineSet map[int]bool

func (s LineSet) has(at int) bool { return s == nil || s[at] }

func lineSet(tasks []int) LineSet {
	s := make(LineSet, len(tasks))
	for _, at := range tasks {
		s[at] = true
	}
	return s
}

// TaskLines returns the lines of a body that stand for tasks of the link's card.
// Those are all of them until the card has had as many tasks as it may have. From then on a line
// stands for a task where the bridge found that when it saw the body. In a body that is not
// recorded, a line stands for a task where it is the line of a known item.
func (l *Link) TaskLines(body string) LineSet {
	if len(l.Family.Lines) == 0 {
		return nil
	}
	digest := DigestText(body)
	for _, seen := range l.Family.Lines {
		if seen.Body == digest {
			return lineSet(seen.Tasks)
		}
	}
	var known []Line
	for _, c := range l.Children {
		if c.Kind == Checklist {
			known = append(known, Line{Text: c.Item, Away: c.State == Left})
		}
	}
	set := LineSet{}
	for i, k := range FindLines(known, Items(body)) {
		if k >= 0 {
			set[i+1] = true
		}
	}
	return set
}

// SetTaskLines records which lines of a body stand for tasks, and keeps the record of those of the
// base.
func (l *Link) SetTaskLines(body string, tasks LineSet) {
	places := make([]int, 0, len(tasks))
	for at := range tasks {
		places = append(places, at)
	}
	slices.Sort(places)
	now := Lines{Body: DigestText(body), Tasks: places}
	base, based := l.Base[Summary]
	agreed, kept := DigestText(base.GitHub), []Lines{now}
	if based && len(l.Family.Lines) == 0 && agreed != now.Body {
		all := Lines{Body: agreed}
		for _, item := range Items(base.GitHub) {
			all.Tasks = append(all.Tasks, item.At)
		}
		kept = append(kept, all)
	}
	for _, seen := range l.Family.Lines {
		if seen.Body != now.Body && (len(kept) < keptLines || based && seen.Body == agreed) {
			kept = append(kept, seen)
		}
	}
	l.Family.Lines = kept
}

// PlainLines returns which checklist lines of a body, by their places in now from 0, are lines that
// are text in the base.
func (l *Link) PlainLines(now []Item) map[int]bool {
	base := l.Base[Summary].GitHub
	tasks := l.TaskLines(base)
	if tasks == nil {
		return nil
	}
	plain := map[int]bool{}
	for i, k := range MatchItems(texts(Items(base)), texts(now)) {
		if k >= 0 && !tasks.has(k+1) {
			plain[i] = true
		}
	}
	return plain
}

// Text is the part of a GitHub value that planning has a value for. Of a body whose checklist lines
// are tasks, it is the text around them.
func (l *Link) Text(r *Route, a Attribute, github string) string {
	if a.Spec().Carrier == CarrierBody && r.Tasks == TasksChecklist {
		rest, _ := carve(github, l.TaskLines(github))
		return rest
	}
	return github
}

// WithTextAround is [WithText] where only some lines of a body are items and the others are text.
// It also returns which lines of the new body are items.
func WithTextAround(body string, lines LineSet, text string) (string, LineSet) {
	if lines == nil {
		return WithText(body, text), nil
	}
	return withText(body, lines, text)
}
