package journal

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// The accounts of these tests. Of maybe it is not known whose it is.
const (
	ours  = "bridge"
	maybe = "maybe"
	dev   = "dev"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is a number of seconds after noon.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func whose(login string) mapping.Authorship {
	return map[string]mapping.Authorship{ours: mapping.Named, maybe: mapping.Unknown}[login]
}

// edits are as GitHub tells them. A footer of ours begins with a bar.
func edits(all ...mapping.IssueEvent) Edits {
	bare := func(text string) string { text, _, _ = strings.Cut(text, "|"); return text }
	return Edits{All: all, Authorship: whose, Bare: bare}
}

// title is an edit of the title at a number of seconds after noon.
func title(who string, seconds int, from, to string) mapping.IssueEvent {
	return mapping.IssueEvent{Sender: who, At: at(seconds), TitleFrom: &from, Title: to}
}

// body is an edit of the body.
func body(who string, seconds int, from, to string) mapping.IssueEvent {
	return mapping.IssueEvent{Sender: who, At: at(seconds), BodyFrom: &from, Body: to}
}

// write is the record of a write to the issue, made at noon and not answered.
func write(id string, a mapping.Attribute, from, to string, more ...func(*mapping.Pending)) mapping.Pending {
	p := mapping.Pending{ID: id, Side: mapping.GitHub, Item: "issue:1", Attribute: a, From: from, To: to, At: noon}
	for _, change := range more {
		change(&p)
	}
	return p
}

func answered(p *mapping.Pending)    { p.Answered = true }
func verified(p *mapping.Pending)    { p.Answered, p.Verified = true, true }
func restores(p *mapping.Pending)    { p.Restores = true }
func asked(p *mapping.Pending)       { p.Asked = true }
func toPlanning(p *mapping.Pending)  { p.Side, p.Item = mapping.Planning, "card:c" }
func agreeing(p *mapping.Pending)    { p.Next.GitHub = p.To }
func ofItem(item mapping.Ref) change { return func(p *mapping.Pending) { p.Item = item } }
func after(seconds int) change       { return func(p *mapping.Pending) { p.After = at(seconds) } }
func made(seconds int) change        { return func(p *mapping.Pending) { p.At = at(seconds) } }

type change = func(*mapping.Pending)

// version is a write to planning that carried a version, made of a base.
func version(v int64, old *mapping.Base) change {
	return func(p *mapping.Pending) {
		toPlanning(p)
		p.Old, p.Next = old, mapping.Base{GitHub: p.To, Planning: p.To, Version: v}
	}
}

// ids are those of records, with a bang behind one that was answered and a hook behind one
// that was verified.
func ids(records []mapping.Pending) string {
	var all []string
	for _, p := range records {
		id := p.ID
		if p.Answered {
			id += "!"
		}
		if p.Verified {
			id += "v"
		}
		if p.Restores {
			id += "r"
		}
		if p.Asked {
			id += "?"
		}
		all = append(all, id)
	}
	return strings.Join(all, " ")
}

func pendings(records ...mapping.Pending) []mapping.Pending { return records }

func expect[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}
