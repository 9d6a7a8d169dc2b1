package mapping_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

// shown writes the marks so that they can be seen: the joiner as "|", the seam as
// "~|".
func shown(text string) string {
	return strings.NewReplacer("\u2064", "~", "\u2060", "|").Replace(text)
}

func TestDefuse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                      "",
		"plain":                                 "plain",
		"@bob":                                  "@|bob",
		"ask @bob, @Acme/team-x.":               "ask @|bob, @|Acme/team-x.",
		"(@bob) *@bob* _@bob_ **@bob**":         "(@|bob) *@|bob* _@|bob_ **@|bob**",
		"é@bob 日@bob":                           "é@|bob 日@|bob",
		`\@bob`:                                 `\@|bob`,
		"&#64;bob &#x40;bob &commat;bob":        "&#64;|bob &#x40;|bob &commat;|bob",
		"@&#98;ob @<!-- -->bob":                 "@|&#98;ob @|<!-- -->bob",
		"bob@example.com":                       "bob@example.com",
		"@ bob, @, 3 @ 4":                       "@ bob, @, 3 @ 4",
		"#12":                                   "#|12",
		"(#12), acme/web#12, bob#12":            "(#|12), acme/web#|12, bob#|12",
		"&#35;12 &num;12":                       "&#35;|12 &num;|12",
		"# 12, #x, C#":                          "# 12, #x, C#",
		"it&#39;s":                              "it&#39;s",
		"GH-12 gh-7":                            "GH-|12 gh-|7",
		"high-12 GH-x":                          "high-12 GH-x",
		"https://github.com/acme/web/issues/12": "https://|github.com/acme/web/issues/12",
		"HTTPS://GitHub.com/acme/web/pull/12#issuecomment-1":   "HTTPS://|GitHub.com/acme/web/pull/12#issuecomment-1",
		"https://ghe.example.com/a/b/discussions/1":            "https://|ghe.example.com/a/b/discussions/1",
		"[x](https://github.com/acme/web/commit/0a1b2c3)":      "[x](https://|github.com/acme/web/commit/0a1b2c3)",
		"<https://github.com/acme/web/issues/12>":              "<https://|github.com/acme/web/issues/12>",
		"[#12](https://example.com)":                           "[#|12](https://example.com)",
		"https://github.com/acme/web":                          "https://github.com/acme/web",
		"https://github.com/acme/web/issues":                   "https://github.com/acme/web/issues",
		"https://example.com/page#12":                          "https://example.com/page#12",
		"[x](https://medium.com/@bob) (@bob)":                  "[x](https://medium.com/@bob) (@|bob)",
		"https://medium.com/@bob, @bob":                        "https://medium.com/@bob, @|bob",
		"https://example.com/x)@bob":                           "https://example.com/x)@|bob",
		"https://localhost/@bob":                               "https://localhost/@|bob",
		"xhttps://medium.com/@bob":                             "xhttps://medium.com/@|bob",
		"https://github.com/acme/web/issues/12/@bob":           "https://|github.com/acme/web/issues/12/@|bob",
		"<div>\nhttps://medium.com/@bob":                       "<div>\nhttps://medium.com/@|bob",
		"`@bob` and ``#12 ` ``":                                "`@bob` and ``#12 ` ``",
		"`@bob":                                                "`@|bob",
		"\\`@bob`":                                             "\\`@|bob`",
		"a ` b\n\n@bob ` c":                                    "a ` b\n\n@|bob ` c",
		"a ` b\r\r@bob ` c":                                    "a ` b\r\r@|bob ` c",
		"```\n@bob #12 https://github.com/a/b/issues/1\n```":   "```\n@bob #12 https://github.com/a/b/issues/1\n```",
		"~~~sh\nnpm i @types/node\n~~~\n@bob":                  "~~~sh\nnpm i @types/node\n~~~\n@|bob",
		"```\n@bob":                                            "```\n@bob",
		"> ```\n> @bob\n\n@bob":                                "> ```\n> @bob\n\n@|bob",
		"- x\n\n  ```\n  @bob\n  ```\n- @bob":                  "- x\n\n  ```\n  @bob\n  ```\n- @|bob",
		"    @bob in indented code":                            "    @|bob in indented code",
		"<pre>\n`@bob`\n</pre>":                                "<pre>\n`@|bob`\n</pre>",
		"| a |\n|---|\n| `@bob` @bob |":                        "| a |\n|---|\n| `@bob` @|bob |",
		"[^1]: ```\ncode @bob ```":                             "[^1]: ```\ncode @|bob ```",
		"| a | b |\n|---|---|\n| ` | @bob ` |":                 "| a | b |\n|---|---|\n| ` | @|bob ` |",
		"@\u2060bob":                                           "@||bob",
		"`@\u2060bob`":                                         "`@||bob`",
		"a\u2060b":                                             "a|b",
		"#\u2060\u206012 and @\u2060":                          "#|||12 and @||",
		"first https://a.example/@x then https://b.example/@y": "first https://a.example/@x then https://b.example/@y",
	} {
		got := mapping.Defuse(in)
		if shown(got) != want {
			t.Errorf("Defuse(%q) = %q, want %q", in, shown(got), want)
		}
		if back := mapping.Restore(got); back != in {
			t.Errorf("Restore(Defuse(%q)) = %q", in, back)
		}
	}
}

// TestDefuseBypasses: places that only the decoded text shows are live, or only by GitHub's reading
// of code and links.
func TestDefuseBypasses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<div>\n&#64octocat\n</div>":         "<div>\n&#64~|octocat\n</div>",
		"<p>&#35&#49;2</p>":                  "<p>&#35~|&#49;2</p>",
		"[https://medium.com/@octocat]":      "[https://medium.com/@|octocat]",
		"https://example.com/` @acme/team `": "https://example.com/` @|acme/team `",
		`GH\-12`:                             `GH\-~|12`,
		"GH-&#49;2":                          "GH-|&#49;2",
		"G&#72;-12":                          "G&#72;-~|12",
		"GH-<!-- -->12":                      "GH-|<!-- -->12",
		"G<!-- -->H-12":                      "G<!-- -->H-~|12",
		`[x](https:\/\/github.com/acme/other/issues/1)`: `[x](https:\/\/~|github.com/acme/other/issues/1)`,
		"www.github.com/acme/other/issues/1":            "www.~|github.com/acme/other/issues/1",
		"https://github.com/acme/other/issues&#47;1":    "https://|github.com/acme/other/issues&#47;1",
		"closes www.github.com/acme/other/issues/1":     "closes www.~|github.com/acme/other/issues/1",
		`Fixes GH\-12`:                                    `Fixes GH\-~|12`,
		"resolved <i>&#35&#49;2</i>":                      "resolved <i>&#35~|&#49;2</i>",
		"&copy@bob":                                       "&copy@|bob",
		"<select>\n\n`@bob`":                              "<select>\n\n`@|bob`",
		"[x](javascript:alert(1))":                        "[x](javascript~|:alert(1))",
		"<VBScript:x> [y]: data:text/html,x":              "<VBScript~|:x> [y]: data~|:text/html,x",
		"<a href=' java\tscript&colon;x'>":                "<a href=' java\tscript~|&colon;x'>",
		"`[x](javascript:x)` and data: the javascript: x": "`[x](javascript:x)` and data: the javascript: x",
		"a\u2064\u2060b":                                  "a~|~|b",
		"GH\\-\u2064\u2060\u2064\u206012":                 `GH\-~|~|~|~|12`,
		"www.\u2060github.com/a/b/issues/1":               "www.~||github.com/a/b/issues/1",
	} {
		got := mapping.Defuse(in)
		if shown(got) != want {
			t.Errorf("Defuse(%q) = %q, want %q", in, shown(got), want)
		}
		if back := mapping.Restore(got); back != in {
			t.Errorf("Restore(Defuse(%q)) = %q", in, back)
		}
	}
}

// TestProgramLinksCross: a link that runs a program arrives defused. The side it came from keeps it
// unchanged, and neither side shows that as an edit.
func TestProgramLinksCross(t *testing.T) {
	t.Parallel()
	const link, defused = "[x](javascript:alert(1))", "[x](javascript\u2064\u2060:alert(1))"
	agreed := func(github, planning string) map[mapping.Attribute]mapping.Base {
		return map[mapping.Attribute]mapping.Base{mapping.Summary: {GitHub: github, Planning: planning, Version: 1}}
	}
	for name, c := range map[string]struct {
		base                     map[mapping.Attribute]mapping.Base
		github, planning         string
		wantGitHub, wantPlanning string
	}{
		"typed on GitHub":                      {agreed("", ""), link, "", link, defused},
		"typed in planning":                    {agreed("", ""), "", link, defused, link},
		"at rest, from GitHub":                 {agreed(link, defused), link, defused, link, defused},
		"at rest, from planning":               {agreed(defused, link), defused, link, defused, link},
		"found so":                             {nil, link, defused, link, defused},
		"an older program wrote it":            {agreed(link, link), link, link, link, link},
		"from GitHub, edited on GitHub":        {agreed(link, defused), link + " b", defused, link + " b", defused + " b"},
		"from GitHub, edited in planning":      {agreed(link, defused), link, defused + " b", link + " b", defused + " b"},
		"from planning, edited on GitHub":      {agreed(defused, link), defused + " b", link, defused + " b", link + " b"},
		"from planning, edited in planning":    {agreed(defused, link), defused, link + " b", defused + " b", link + " b"},
		"from GitHub, both edited":             {agreed("a\n\n"+link, "a\n\n"+defused), "b\n\n" + link, "a\n\n" + defused + "\n\nc", "b\n\n" + link + "\n\nc", "b\n\n" + defused + "\n\nc"},
		"one more on GitHub, both edited":      {agreed("a\n\nc", "a\n\nc"), "a\n\nc\n\n" + link, "b\n\nc", "b\n\nc\n\n" + link, "b\n\nc\n\n" + defused},
		"one more in planning":                 {agreed(link, defused), link, defused + " " + link, link + " " + defused, defused + " " + link},
		"one more on GitHub, after planning's": {agreed(defused, link), defused + " " + link, link, defused + " " + link, link + " " + defused},
	} {
		github, planning, base := c.github, c.planning, c.base
		for round := 0; ; round++ {
			decisions := decisionsAbout(base, github, planning, 1)
			if len(decisions) == 0 {
				break
			}
			if round == 3 {
				t.Fatalf("%s: no end of %+v", name, decisions)
			}
			for _, d := range decisions {
				if d.GitHub != nil {
					github = d.GitHub.To
				}
				if d.Planning != nil {
					planning = d.Planning.To
				}
				base = map[mapping.Attribute]mapping.Base{d.Attribute: d.Base}
			}
		}
		if github != c.wantGitHub || planning != c.wantPlanning {
			t.Errorf("%s: GitHub has %q, want %q; planning has %q, want %q", name, shown(github), shown(c.wantGitHub), shown(planning), shown(c.wantPlanning))
		}
	}
}

func TestDefuseKeeping(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, held, want string }{
		"a person's mention stays live":        {"ask @bob and @ann", "ask @|bob and @ann", "ask @|bob and @ann"},
		"a new one does not":                   {"ask @bob, @ann, @eve", "ask @|bob and @ann", "ask @|bob, @ann, @|eve"},
		"in any case":                          {"ask @Ann", "ask @ann", "ask @Ann"},
		"moved":                                {"#7 moved, then @ann", "@ann, #7", "#7 moved, then @ann"},
		"one live, one not":                    {"@ann @ann", "@|ann @ann", "@|ann @ann"},
		"more of them":                         {"@ann @ann @ann", "@ann", "@ann @|ann @|ann"},
		"what was in code was not live":        {"@ann", "`@ann`", "@|ann"},
		"a URL":                                {"see https://github.com/a/b/issues/1.", "https://github.com/a/b/issues/1", "see https://github.com/a/b/issues/1."},
		"a URL, defused":                       {"https://github.com/a/b/issues/1", "https://|github.com/a/b/issues/1", "https://|github.com/a/b/issues/1"},
		"another issue of the URL":             {"https://github.com/a/b/issues/11", "https://github.com/a/b/issues/1", "https://|github.com/a/b/issues/11"},
		"a fragment of a defused URL is none":  {"#12", "https://|github.com/a/b/issues/1#|12", "#|12"},
		"a character reference means the same": {"@ann", "&#64;ann", "@ann"},
		"planning's own joiner":                {"@|ann", "@ann", "@||ann"},
		"nothing held":                         {"@ann", "", "@|ann"},
	} {
		unshown := func(s string) string { return strings.ReplaceAll(s, "|", "\u2060") }
		if got := shown(mapping.DefuseKeeping(unshown(c.text), unshown(c.held))); got != c.want {
			t.Errorf("%s: DefuseKeeping(%q, %q) = %q, want %q", name, c.text, c.held, got, c.want)
		}
	}
}

// Code is found however deep it is nested.
func TestDefuseDeepNesting(t *testing.T) {
	t.Parallel()
	for _, container := range []string{"> ", ">", "- ", "1. ", "> * "} {
		for _, depth := range []int{4, 20, 2000} {
			nested := strings.Repeat(container, depth)
			text := nested + "`@bob` @ann\n\n" + container + "`@ann`"
			if got, want := shown(mapping.Defuse(text)), nested+"`@bob` @|ann\n\n"+container+"`@ann`"; got != want {
				t.Errorf("Defuse(%q) = %q, want %q", text, got, want)
			}
		}
	}
}

// The longest texts that GitHub takes, made to be hard.
func BenchmarkDefuse(b *testing.B) {
	for name, unit := range map[string]string{"quotes": "> ", "lists": "- ", "backticks": "` ", "brackets": "[", "entities": "&#", "mentions": "`a` @bob https://a.b/issues/1 "} {
		text := strings.Repeat(unit, 65_000/len(unit)) + "@bob `x`"
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				mapping.Defuse(text)
			}
		})
	}
}

// plain is a text without joiners: people's texts.
func plain() *rapid.Generator[string] {
	return rapid.Map(rapid.OneOf(mappingtest.Text(), mappingtest.Markdown()), func(s string) string { return strings.ReplaceAll(s, "\u2060", "") })
}

func TestDefuseLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(mappingtest.Text(), mappingtest.Markdown()).Draw(t, "text")
		held := rapid.OneOf(mappingtest.Text(), mappingtest.Markdown(), mappingtest.Edited(text, "@ann")).Draw(t, "held")
		if back := mapping.Restore(mapping.Defuse(text)); back != text {
			t.Errorf("Restore(Defuse(%q)) = %q", text, back)
		}
		if back := mapping.Restore(mapping.DefuseKeeping(text, held)); back != text {
			t.Errorf("Restore(DefuseKeeping(%q, %q)) = %q", text, held, back)
		}
	})
}

// A text that nobody changed in planning is written to GitHub as it stands there: live places stay
// live, defused ones stay defused.
func TestDefuseKeepingChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ours, theirs := plain().Draw(t, "ours"), plain().Draw(t, "theirs")
		if got := mapping.Restore(theirs); got != theirs {
			t.Errorf("what a person typed, %q, is changed to %q", theirs, got)
		}
		held := mapping.Defuse(ours)
		if got := mapping.DefuseKeeping(mapping.Restore(held), held); got != held {
			t.Errorf("defused: %q became %q", shown(held), shown(got))
		}
		if got := mapping.DefuseKeeping(theirs, theirs); got != theirs {
			t.Errorf("live: %q became %q", theirs, shown(got))
		}
		if again := mapping.DefuseKeeping(ours, mapping.DefuseKeeping(ours, theirs)); again != mapping.DefuseKeeping(ours, theirs) {
			t.Errorf("written twice: %q, with %q before", shown(again), theirs)
		}
	})
}

func FuzzDefuse(f *testing.F) {
	for _, seed := range []string{"@bob `@bob` #12", "@\u2060bob", "&#64;bob", "```\n@bob\n```\n", "https://github.com/a/b/issues/1", "[^1]: `x`\n\n| ` |\n|---|", "gh-\u206012"} {
		f.Add(seed, "@bob #12")
	}
	f.Fuzz(func(t *testing.T, text, held string) {
		if back := mapping.Restore(mapping.Defuse(text)); back != text {
			t.Errorf("Restore(Defuse(%q)) = %q", text, back)
		}
		if back := mapping.Restore(mapping.DefuseKeeping(text, held)); back != text {
			t.Errorf("Restore(DefuseKeeping(%q, %q)) = %q", text, held, back)
		}
	})
}
