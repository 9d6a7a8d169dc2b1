package journal

import (
	"strings"
	"testing"

	"planbridge/mapping"
)

const (
	whyHappened = "a write whose answer was lost had happened"
	whyPerson   = "a write whose answer was lost had happened, or a person did the same"
	whyUndone   = "a write whose answer was lost, or another one, was undone or replaced"
)

func TestRecover(t *testing.T) {
	const one, two, both = "one\n\ntwo\n\nthree", "ONE\n\ntwo\n\nthree", "ONE\n\ntwo\n\nfour"
	old := &mapping.Base{GitHub: "a", Planning: "a", Version: 5}
	card, tracking := write("p", mapping.Title, "a", "b", version(5, old)), write("p", mapping.State, "todo", "done", version(5, old))
	hub, state := write("p", mapping.Title, "a", "b", agreeing), write("p", mapping.State, "todo", "done", agreeing)
	agreed := func(g, p string, v int64) *mapping.Base { return &mapping.Base{GitHub: g, Planning: p, Version: v} }
	for _, tt := range []struct {
		name     string
		p        mapping.Pending
		now      string // the value of the written side; "-": not known
		version  int64
		github   string // GitHub's value, of a write to planning
		editor   string
		edits    Edits
		late     []mapping.Pending
		echoed   bool
		denied   bool
		happened bool
		base     *mapping.Base
		unbased  bool
		why      string
	}{
		{name: "GitHub is not known", p: hub, now: "-"},
		{name: "GitHub is not known, its echo came", p: hub, now: "-", echoed: true, happened: true},
		{name: "GitHub shows it", p: hub, now: "b", happened: true, base: agreed("b", "", 0), why: whyHappened},
		{name: "GitHub shows it, a person wrote the same", p: hub, now: "b", edits: edits(title(dev, 1, "a", "b"))},
		{name: "GitHub shows what stood there before", p: hub, now: "a"},
		{name: "its echo came, and it was replaced since", p: hub, now: "c", echoed: true, happened: true, base: agreed("b", "", 0), why: whyHappened},
		{name: "a person edited it", p: hub, now: "c", edits: edits(title(dev, 1, "b", "c")), happened: true, base: agreed("b", "", 0), why: whyHappened},
		{name: "a person edited it, though GitHub remembers nothing of ours", p: hub, now: "c", edits: edits(title(dev, 1, "b", "c")), denied: true},
		{name: "a person edited what stood there before", p: hub, now: "c", edits: edits(title(dev, 1, "a", "c"))},
		{name: "no event tells what a title was made from", p: hub, now: "c"},
		{name: "a body holds all that was written", p: write("p", mapping.Summary, one, two, agreeing), now: both, happened: true, base: agreed(two, "", 0), why: whyHappened},
		{name: "a body does not", p: write("p", mapping.Summary, one, two, agreeing), now: "one\n\ntwo\n\nfour"},
		{name: "what stands there is of one that was given up", p: hub, now: "c", edits: edits(title(dev, 1, "b", "c")), late: pendings(write("l", mapping.Title, "a", "c"))},
		{name: "a body is not rendered on GitHub", p: write("p", mapping.Summary, one, two, agreeing), now: strings.ToLower(two)},
		{name: "a body is empty, which holds nothing", p: write("p", mapping.Summary, one, two, agreeing), now: ""},
		{name: "a title does not hold another one", p: write("p", mapping.Title, "one two three", "ONE two three", agreeing), now: "ONE two three and four"},
		{name: "we edited it ourselves since", p: hub, now: "c", edits: edits(title(ours, 1, "b", "c"))},
		{
			name: "a person edited it, after another edit", p: hub, now: "c", edits: edits(title(dev, 1, "x", "y"), title(dev, 2, "b", "c")),
			happened: true, base: agreed("b", "", 0), why: whyHappened,
		},
		{
			name: "others that were given up say nothing of it", p: hub, now: "c", edits: edits(title(dev, 1, "b", "c")),
			late:     pendings(write("l", mapping.Summary, "a", "c"), write("m", mapping.Title, "a", "c", toPlanning), write("n", mapping.Title, "a", "d")),
			happened: true, base: agreed("b", "", 0), why: whyHappened,
		},
		{
			name: "what planning had is kept in the base", p: write("p", mapping.Title, "a", "b", func(p *mapping.Pending) { p.Next = mapping.Base{GitHub: "b", Planning: "b", Version: 7} }), now: "b",
			happened: true, base: agreed("b", "b", 7), why: whyHappened,
		},
		{name: "for its marker alone", p: write("p", mapping.Summary, "a", "a", agreeing), now: "a", happened: true},
		{
			name: "for its marker alone, over what was agreed on", p: write("p", mapping.Summary, "a", "a", agreeing, func(p *mapping.Pending) { p.Old = old }), now: "a",
			happened: true, base: agreed("a", "", 0), why: whyHappened,
		},
		{name: "an estimate that stands there", p: write("p", mapping.Estimate, "1", "2", agreeing), now: "2", happened: true, base: agreed("2", "", 0), why: whyHappened},
		{name: "an estimate that nobody wrote before", p: write("p", mapping.Estimate, "1", "2", agreeing), now: "3", unbased: true, why: whyUndone},
		{name: "an estimate from before", p: write("p", mapping.Estimate, "1", "2", agreeing), now: "1"},
		{name: "a state, and our event", p: state, now: "done", editor: ours, happened: true, base: agreed("done", "", 0), why: whyHappened},
		{name: "a state, and a person's event", p: state, now: "done", editor: dev, unbased: true, why: whyPerson},
		{name: "a state that was replaced, and GitHub remembers ours", p: state, now: "todo", editor: dev, echoed: true, happened: true, base: agreed("done", "", 0), why: whyHappened},

		{name: "planning shows it", p: card, now: "b", version: 6, happened: true, base: agreed("b", "b", 6), why: whyHappened},
		{name: "planning shows it, and a person wrote the same on GitHub", p: card, now: "b", version: 6, edits: edits(title(dev, 1, "a", "b")), happened: true, base: agreed("b", "b", 6), why: whyHappened},
		{name: "planning has another estimate, of the next version", p: write("p", mapping.Estimate, "1", "2", version(5, old)), now: "3", version: 6},
		{name: "planning has another estimate, two versions later", p: write("p", mapping.Estimate, "1", "2", version(5, old)), now: "3", version: 7, unbased: true, why: whyUndone},
		{name: "planning has another estimate, and there was no base", p: write("p", mapping.Estimate, "1", "2", version(5, nil)), now: "3", version: 7},
		{name: "planning has a title of which GitHub's events tell", p: card, now: "c", version: 7, github: "b", edits: edits(title(dev, 1, "b", "c"))},
		{name: "planning was edited once, and GitHub is as it was agreed on", p: card, now: "c", version: 6, github: "a"},
		{name: "planning was edited, and GitHub has something else", p: card, now: "c", version: 7, github: "x"},
		{name: "planning was edited, and GitHub is not known", p: write("p", mapping.Title, "a", "b", version(5, &mapping.Base{Planning: "a", Version: 5})), now: "c", version: 7},
		{
			name: "planning was edited, and GitHub agreed all along", p: write("p", mapping.Title, "a", "b", version(5, &mapping.Base{GitHub: "b", Planning: "a", Version: 5})),
			now: "c", version: 7, github: "b",
		},
		{name: "planning shows it in another spelling", p: card, now: " b", version: 6, happened: true, base: agreed("b", " b", 6), why: whyHappened},
		{name: "planning shows what was there before", p: card, now: "a", version: 5},
		{name: "planning went back by two versions", p: card, now: "a", version: 7, unbased: true, why: whyUndone},
		{name: "planning went back by one version only", p: card, now: "a", version: 6},
		{name: "planning has another title, of the next version", p: card, now: "c", version: 6},
		{name: "planning has another title, two versions later", p: card, now: "c", version: 7, github: "b"},
		{name: "planning was edited, and GitHub is as it was agreed on", p: card, now: "c", version: 7, github: "a", unbased: true, why: whyUndone},
		{
			name: "a summary that renders alike", p: write("p", mapping.Summary, one, two, version(5, old)), now: strings.ToLower(two), version: 6, happened: true,
			base: agreed(two, strings.ToLower(two), 6), why: whyHappened,
		},
		{name: "a title is not rendered", p: write("p", mapping.Title, "a", "B", version(5, old)), now: "b", version: 6},
		{
			name: "a summary that was edited since", p: write("p", mapping.Summary, one, two, version(5, old)), now: both, version: 7, github: two, happened: true,
			base: agreed(two, two, 6), why: whyHappened,
		},
		{name: "a summary that was edited, of the next version", p: write("p", mapping.Summary, one, two, version(5, old)), now: both, version: 6, github: two},
		{name: "a summary without a base", p: write("p", mapping.Summary, one, two, version(5, nil)), now: both, version: 7, github: two},
		{name: "a task's state", p: tracking, now: "done", version: 6, unbased: true, why: whyPerson},
		{
			name: "a base that keeps planning's", p: write("p", mapping.Title, "a", "b", version(5, old), func(p *mapping.Pending) { p.Next.Planning = "x" }), now: "b", version: 6,
			happened: true, base: agreed("b", "x", 5), why: whyHappened,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Book{
				Journal: &mapping.Journal{InFlight: tt.late}, Edits: edits(tt.edits.All...), GitHub: mapping.View{}, Planning: mapping.View{},
				Issue: &mapping.Issue{Editor: tt.editor}, Merge: mapping.Merge, SameRendering: strings.EqualFold,
			}
			view := b.GitHub
			if tt.p.Side == mapping.Planning {
				view = b.Planning
			}
			if tt.github != "" {
				b.GitHub[tt.p.Attribute] = mapping.Versioned{Value: tt.github}
			}
			if tt.now != "-" {
				view[tt.p.Attribute] = mapping.Versioned{Value: tt.now, Version: tt.version}
			}
			got := b.recover(tt.p, tt.echoed, tt.denied)
			expect(t, "happened", got.Happened, tt.happened)
			expect(t, "the base", got.Base, tt.base)
			expect(t, "unbased", got.Unbased, tt.unbased)
			expect(t, "the history", got.Why, tt.why)
		})
	}
}

func TestWentBack(t *testing.T) {
	old := &mapping.Base{Planning: "agreed"}
	p := write("p", mapping.Title, "from", "to", version(5, old))
	for _, tt := range []struct {
		name    string
		p       mapping.Pending
		now     string
		version int64
		want    bool
	}{
		{"to what it held", p, "from", 7, true},
		{"to what was agreed on", p, "agreed", 7, true},
		{"to something else", p, "x", 7, false},
		{"one version is too few", p, "from", 6, false},
		{"no base", write("p", mapping.Title, "from", "to", version(5, nil)), "from", 7, false},
		{"GitHub has no versions", write("p", mapping.Title, "from", "to"), "from", 7, false},
		{"GitHub has none, whatever was agreed on", write("p", mapping.Title, "from", "to", func(p *mapping.Pending) { p.Old = old }), "from", 7, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, "went back", WentBack(tt.p, mapping.Versioned{Value: tt.now, Version: tt.version}), tt.want)
		})
	}
}

// outcomes shows what became of writes: + for one that happened, 0 for one that left the sides
// as at first sight.
func outcomes(all []Recovered) string {
	var shown []string
	for _, r := range all {
		is := r.ID
		if r.Happened {
			is += "+"
		}
		if r.Unbased {
			is += "0"
		}
		shown = append(shown, is)
	}
	return strings.Join(shown, " ")
}

func TestRecoverAll(t *testing.T) {
	for _, tt := range []struct {
		name          string
		j             mapping.Journal
		known         Matches
		denied        map[string]bool
		now           mapping.View // on either side
		edits         Edits
		want          string
		pending, late string
		wrote         string // "to" where it is known what stands there since
	}{
		{name: "nothing on record"},
		{
			name: "it was answered", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", answered))},
			now: mapping.View{mapping.Title: {Value: "b"}}, pending: "p!",
		},
		{
			name: "a title that happened awaits its echo", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", agreeing))},
			now: mapping.View{mapping.Title: {Value: "b"}}, want: "p+", pending: "p!", wrote: "from",
		},
		{
			name: "an echo tells what stands there", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", agreeing))},
			known: Matches{"p": {"a", at(1)}}, now: mapping.View{mapping.Title: {Value: "b"}}, want: "p+", pending: "p!", wrote: "to",
		},
		{
			name: "what seemed lost is not restored by it any more", j: mapping.Journal{
				Pending: pendings(write("p", mapping.Title, "a", "b", agreeing)), InFlight: pendings(write("l", mapping.Title, "a", "c", restores)),
			},
			now: mapping.View{mapping.Title: {Value: "b"}}, want: "p+", pending: "p!", late: "l", wrote: "from",
		},
		{
			name: "its echo came, and GitHub is not known", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", agreeing))},
			known: Matches{"p": {"a", at(1)}}, want: "p+", pending: "p!",
		},
		{
			name: "an estimate that happened is done with", j: mapping.Journal{Pending: pendings(write("p", mapping.Estimate, "1", "2", agreeing))},
			now: mapping.View{mapping.Estimate: {Value: "2"}}, want: "p+", wrote: "from",
		},
		{
			name: "planning's title is done with", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b", version(5, nil)))},
			now: mapping.View{mapping.Title: {Value: "b", Version: 6}}, want: "p+",
		},
		{
			name: "one that did not happen may be under way", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"))},
			now: mapping.View{mapping.Title: {Value: "a"}}, want: "p", late: "p",
		},
		{
			name: "one of which the sides know nothing may be, too", j: mapping.Journal{Pending: pendings(write("p", mapping.Estimate, "1", "2"))},
			now: mapping.View{mapping.Estimate: {Value: "3"}}, want: "p0", late: "p",
		},
		{
			name: "GitHub does not deny it", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"))}, denied: map[string]bool{"q": true},
			now: mapping.View{mapping.Title: {Value: "c"}}, edits: edits(title(dev, 1, "b", "c")), want: "p+", pending: "p!", wrote: "from",
		},
		{
			name: "GitHub denies it", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"))}, denied: map[string]bool{"p": true},
			now: mapping.View{mapping.Title: {Value: "c"}}, edits: edits(title(dev, 1, "b", "c")), want: "p", late: "p",
		},
		{
			name: "each for itself", j: mapping.Journal{Pending: pendings(write("p", mapping.Title, "a", "b"), write("q", mapping.Summary, "a", "b"), write("r", mapping.Title, "a", "b", answered))},
			now: mapping.View{mapping.Title: {Value: "a"}, mapping.Summary: {Value: "b"}}, want: "p q+", pending: "q! r!", late: "p", wrote: "from",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := Book{
				Journal: &tt.j, Edits: edits(tt.edits.All...), GitHub: tt.now, Planning: tt.now, Issue: known(1, dev),
				Merge: mapping.Merge, SameRendering: strings.EqualFold, Now: at(7),
			}
			expect(t, "the outcomes", outcomes(b.RecoverAll(tt.known, tt.denied)), tt.want)
			expect(t, "pending", ids(tt.j.Pending), tt.pending)
			expect(t, "in flight", ids(tt.j.InFlight), tt.late)
			wrote := ""
			for _, o := range tt.j.Written {
				if wrote = "from"; o.To != "" {
					wrote = "to"
				}
				expect(t, "when it was written", o.At, at(7))
			}
			expect(t, "wrote", wrote, tt.wrote)
			for _, p := range tt.j.Pending {
				if p.ID == "p" && tt.want != "" {
					expect(t, "from when its echo is awaited", p.At, at(7))
				}
			}
		})
	}
}

func TestLanded(t *testing.T) {
	p := write("p", mapping.Title, "a", "b", version(5, nil))
	for _, tt := range []struct {
		name       string
		late       []mapping.Pending
		now        string
		version    int64
		base       int64
		want, left string
	}{
		{name: "nothing was given up", now: "b", version: 6},
		{name: "planning has the version that it carried", late: pendings(p), now: "a", version: 5, base: 5, left: "p"},
		{name: "it took effect", late: pendings(p), now: "b", version: 6, base: 5, want: "p+"},
		{name: "somebody else's edit was first", late: pendings(p), now: "c", version: 6, base: 5, want: "p"},
		{name: "that version is agreed on", late: pendings(p), now: "b", version: 6, base: 6},
		{name: "a later version", late: pendings(p), now: "b", version: 7, base: 5},
		{name: "planning is not known", late: pendings(write("p", mapping.Summary, "a", "b", version(5, nil))), now: "b", version: 6, base: 5, left: "p"},
		{name: "to GitHub", late: pendings(write("p", mapping.Title, "a", "b")), now: "b", version: 6, base: 5, left: "p"},
		{
			name: "two of one version: the first one found explains it", late: pendings(p, write("q", mapping.Title, "a", "b", version(5, nil))), now: "b", version: 6, base: 5,
			want: "p+",
		},
		{name: "one is past, the other may land", late: pendings(write("q", mapping.Title, "a", "x", version(6, nil)), p), now: "b", version: 6, base: 5, want: "p+", left: "q"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j, base := mapping.Journal{InFlight: tt.late}, map[mapping.Attribute]mapping.Base{mapping.Title: {Version: tt.base}}
			b := Book{
				Journal: &j, Edits: edits(), Base: base, Planning: mapping.View{mapping.Title: {Value: tt.now, Version: tt.version}},
				Merge: mapping.Merge, SameRendering: strings.EqualFold,
			}
			expect(t, "the outcomes", outcomes(b.Landed()), tt.want)
			expect(t, "in flight", ids(j.InFlight), tt.left)
			expect(t, "the base that was passed", base[mapping.Title].Version, tt.base)
		})
	}
	t.Run("a state leaves nothing agreed on", func(t *testing.T) {
		state := func(id string) mapping.Pending { return write(id, mapping.State, "todo", "done", version(5, nil)) }
		j := mapping.Journal{InFlight: pendings(state("p"), state("q"))}
		b := Book{Journal: &j, Edits: edits(), Planning: mapping.View{mapping.State: {Value: "done", Version: 6}}, Merge: mapping.Merge, SameRendering: strings.EqualFold}
		expect(t, "the outcomes", outcomes(b.Landed()), "p0 q0")
		expect(t, "in flight", ids(j.InFlight), "")
	})
}
