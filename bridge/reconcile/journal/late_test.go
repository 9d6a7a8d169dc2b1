package journal

import (
	"testing"

	"planbridge/mapping"
)

// known is the issue as it was read, with an updated_at in seconds after noon.
func known(seconds int, editor string) *mapping.Issue {
	return &mapping.Issue{UpdatedAt: at(seconds), Editor: editor}
}

func TestLook(t *testing.T) {
	late, number := write("l", mapping.Title, "a", "b"), write("l", mapping.Estimate, "1", "2")
	done := write("l", mapping.Title, "a", "b", asked)
	for _, tt := range []struct {
		name    string
		p       mapping.Pending
		base    string // "-": none
		now     string
		issue   *mapping.Issue
		pending []mapping.Pending
		edits   Edits
		known   Matches
		clock   int // the settle time is 30
		want    Look
	}{
		{name: "GitHub shows what was agreed on", p: late, base: "x", now: "x", issue: known(1, ""), want: LookLater},
		{name: "it cannot be under way any more", p: late, base: "x", now: "x", issue: known(1, ""), clock: 30, want: LookAsk},
		{name: "it cannot, and GitHub was asked", p: done, base: "x", now: "x", issue: known(1, ""), clock: 30, want: LookLater},
		{name: "GitHub shows what it wrote", p: done, base: "x", now: "b", issue: known(1, ""), want: LookAsk},
		{
			name: "GitHub shows what another write explains", p: done, base: "x", now: "b", issue: known(1, ""),
			pending: pendings(write("p", mapping.Title, "x", "b", func(p *mapping.Pending) { p.Next.GitHub = "x" })), want: LookLater,
		},
		{
			name: "something was agreed on since that write", p: done, base: "x", now: "b", issue: known(1, ""),
			pending: pendings(write("p", mapping.Title, "x", "b", agreeing)), want: LookAsk,
		},
		{
			name: "a write to planning explains nothing on GitHub", p: done, base: "x", now: "b", issue: known(1, ""),
			pending: pendings(write("p", mapping.Title, "x", "b", toPlanning, func(p *mapping.Pending) { p.Next.GitHub = "x" })), want: LookAsk,
		},
		{
			name: "a write of the body explains no title", p: done, base: "x", now: "b", issue: known(1, ""),
			pending: pendings(write("p", mapping.Summary, "x", "b", func(p *mapping.Pending) { p.Next.GitHub = "x" })), want: LookAsk,
		},
		{
			name: "a write of another title explains it not", p: done, base: "x", now: "b", issue: known(1, ""),
			pending: pendings(write("p", mapping.Title, "x", "c", func(p *mapping.Pending) { p.Next.GitHub = "x" })), want: LookAsk,
		},
		{name: "GitHub shows a text that nothing explains", p: done, base: "x", now: "c", issue: known(1, ""), want: LookAsk},
		{name: "an event explains it", p: done, base: "x", now: "c", issue: known(1, ""), edits: edits(title(dev, 1, "x", "c")), want: LookLater},
		{name: "an event tells that it was made of something else", p: done, base: "x", now: "c", issue: known(1, ""), edits: edits(title(dev, 1, "b", "c")), want: LookAsk},
		{name: "nothing was seen of the issue", p: done, base: "x", now: "c", want: LookLater},
		{name: "it wrote what is agreed on, and nothing happened", p: done, base: "b", now: "b", issue: known(0, ""), want: LookLater},
		{name: "it wrote what is agreed on, and nothing was seen", p: done, base: "b", want: LookLater},
		{name: "it wrote what is agreed on, and cannot be under way any more", p: late, base: "b", now: "b", issue: known(0, ""), clock: 30, want: LookAsk},
		{name: "it wrote what is agreed on, and something happened", p: done, base: "b", now: "b", issue: known(1, ""), want: LookAsk},
		{name: "it wrote what is agreed on, and a title that nothing explains", p: done, base: "b", now: "c", issue: known(1, ""), want: LookAsk},
		{
			name: "the echo of what was written in its stead is awaited", p: done, base: "b", now: "c", issue: known(1, ""),
			pending: pendings(write("p", mapping.Title, "a", "b", answered)), want: LookLater,
		},
		{name: "nothing is agreed on", p: late, base: "-", now: "b", issue: known(1, ""), clock: 30, want: LookLater},
		{name: "it is known", p: late, base: "x", now: "b", issue: known(1, ""), known: Matches{"l": {}}, clock: 30, want: LookLater},
		{name: "it was dealt with", p: write("l", mapping.Title, "a", "b", verified), base: "x", now: "b", issue: known(1, ""), clock: 30, want: LookLater},
		{name: "it was to planning", p: write("l", mapping.Title, "a", "b", toPlanning), base: "x", now: "b", issue: known(1, ""), clock: 30, want: LookLater},

		{name: "an estimate that does not show", p: number, base: "5", now: "5", issue: known(1, ours), clock: 30, want: LookLater},
		{name: "an estimate, and nothing was seen of the issue", p: number, base: "5", now: "2", want: LookLater},
		{name: "an estimate of ours shows", p: number, base: "5", now: "2", issue: known(1, ours), want: LookLanded},
		{name: "an estimate shows, nobody tells whose", p: number, base: "5", now: "2", issue: known(1, ""), want: LookUnbased},
		{name: "an estimate that is agreed on", p: number, base: "2", now: "2", issue: known(1, ours), want: LookLater},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Book{
				Journal: &mapping.Journal{Pending: tt.pending, InFlight: pendings(tt.p)}, Edits: edits(tt.edits.All...), Issue: tt.issue, Known: noon,
				GitHub: mapping.View{tt.p.Attribute: {Value: tt.now}}, Base: map[mapping.Attribute]mapping.Base{},
				Settle: at(30).Sub(noon), Now: at(tt.clock),
			}
			if tt.base != "-" {
				b.Base[tt.p.Attribute] = mapping.Base{GitHub: tt.base}
			}
			expect(t, "to do", b.Look(tt.p, tt.known), tt.want)
		})
	}
}

// TestLookAtNothing: an attribute that GitHub does not show proves nothing of a write that would
// have left it empty. Nor does it of a write that is not explained.
func TestLookAtNothing(t *testing.T) {
	for _, p := range []mapping.Pending{write("l", mapping.Estimate, "1", ""), write("l", mapping.Title, "a", "b")} {
		b := Book{
			Journal: &mapping.Journal{InFlight: pendings(p)}, Edits: edits(), Issue: known(1, ours), Known: noon, GitHub: mapping.View{},
			Base: map[mapping.Attribute]mapping.Base{p.Attribute: {GitHub: "5"}}, Settle: at(30).Sub(noon), Now: noon,
		}
		expect(t, "to do about "+string(p.Attribute), b.Look(p, nil), LookLater)
	}
}

func TestAsked(t *testing.T) {
	for _, tt := range []struct {
		name string
		now  int
		want string
	}{
		{"while they may be under way", 29, "old new body card estimate"},
		{"one cannot be any more", 30, "old? new body card estimate?"},
		{"both cannot", 40, "old? new? body card estimate?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Book{Settle: at(30).Sub(noon), Now: at(tt.now), Journal: &mapping.Journal{InFlight: pendings(
				write("old", mapping.Title, "a", "b"), write("new", mapping.Title, "a", "b", made(10)), write("body", mapping.Summary, "a", "b"),
				write("card", mapping.Title, "a", "b", toPlanning), write("estimate", mapping.Estimate, "1", "2"),
			)}}
			b.Asked(func(p mapping.Pending) bool { return p.Attribute == mapping.Title || p.ID == "estimate" })
			expect(t, "the records", ids(b.InFlight), tt.want)
		})
	}
}

func TestRepair(t *testing.T) {
	late, text := write("l", mapping.Title, "a", "b"), write("l", mapping.Summary, "a", "b")
	for _, tt := range []struct {
		name    string
		p       mapping.Pending
		over    string // the replaced value; "x" is agreed on
		now     string
		planned string
		pending []mapping.Pending
		more    []mapping.Pending // other in-flight writes
		want    Repair
		edited  bool
	}{
		{name: "over what was agreed on", p: late, over: "x", now: "b", want: RepairRewrite},
		{name: "over what it was made from", p: late, over: "a", now: "b", want: RepairRewrite},
		{name: "over a person's edit", p: late, over: "y", now: "b", want: RepairRewrite, edited: true},
		{name: "planning has it by now", p: late, over: "x", now: "b", planned: "b", want: RepairNothing},
		{name: "planning has it by now, over a person's edit", p: late, over: "y", now: "b", planned: "b", want: RepairRewrite, edited: true},
		{name: "what it ran over stands there again", p: late, over: "y", now: "y", want: RepairLost, edited: true},
		{name: "what was agreed on stands there again", p: late, over: "x", now: "x", want: RepairNothing},
		{name: "somebody edited its title", p: late, over: "x", now: "z", want: RepairUnbased},
		{name: "somebody edited its title, over a person's edit", p: late, over: "y", now: "z", want: RepairLost, edited: true},
		{name: "somebody edited its text", p: text, over: "x", now: "z", want: RepairLost},
		{name: "somebody replaced its estimate", p: write("l", mapping.Estimate, "1", "2"), over: "", now: "3", want: RepairNothing},
		{name: "over the very same value", p: late, over: "b", now: "b", want: RepairNothing, edited: true},
		{name: "planning has something else by now", p: late, over: "x", now: "b", planned: "q", want: RepairRewrite},
		{name: "it seemed lost, but was not made again", p: write("l", mapping.Title, "a", "b", restores), over: "x", now: "b", want: RepairLost},
		{name: "another one that was given up stands there", p: late, over: "y", now: "c", more: pendings(write("m", mapping.Title, "a", "c")), want: RepairRewrite, edited: true},
		{
			name: "a body that was given up is no title", p: late, over: "y", now: "c", more: pendings(write("m", mapping.Summary, "a", "c")),
			want: RepairLost, edited: true,
		},
		{
			name: "another one's value was written again, over what was agreed on", p: write("m", mapping.Title, "a", "c"), over: "x", now: "b", more: pendings(late),
			pending: pendings(write("p", mapping.Title, "x", "b", answered)), want: RepairUnbased,
		},
		{name: "what is agreed on, written over a person's edit", p: write("l", mapping.Title, "a", "x"), over: "y", now: "x", want: RepairRewrite, edited: true},
		{name: "planning has nothing by now", p: write("l", mapping.Title, "a", ""), over: "x", now: "", want: RepairRewrite},
		{
			name: "what was written in its stead stands there", p: write("m", mapping.Title, "a", "c"), over: "y", now: "b", more: pendings(late),
			pending: pendings(write("p", mapping.Title, "x", "b", answered)), want: RepairLost, edited: true,
		},
		{
			name: "its own value was written again, over what was agreed on", p: late, over: "x", now: "b",
			pending: pendings(write("p", mapping.Title, "x", "b", answered)), want: RepairRewrite,
		},
		{
			name: "its own value was written again, over a person's edit", p: late, over: "y", now: "b",
			pending: pendings(write("p", mapping.Title, "x", "b", answered)), want: RepairLost, edited: true,
		},
		{name: "its value is what is agreed on", p: write("l", mapping.Title, "a", "x"), over: "a", now: "x", want: RepairNothing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.p.Attribute
			b := Book{
				Journal: &mapping.Journal{Pending: tt.pending}, GitHub: mapping.View{a: {Value: tt.now}}, Planning: mapping.View{},
				Base: map[mapping.Attribute]mapping.Base{a: {GitHub: "x"}},
			}
			if tt.planned != "" {
				b.Planning[a] = mapping.Versioned{Value: tt.planned}
			}
			do, edited := b.Repair(tt.p, tt.over, append(tt.more, tt.p))
			expect(t, "to do", do, tt.want)
			expect(t, "edited", edited, tt.edited)
		})
	}
}
