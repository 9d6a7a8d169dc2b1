package mapping_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

// shown writes the joiner as "|", so that it can be seen.
func shown(text string) string { return strings.ReplaceAll(text, "\u2060", "|") }

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
		if back := mapping.Refuse(got); back != in {
			t.Errorf("Refuse(Defuse(%q)) = %q", in, back)
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

// Texts nested deep take a parser seconds, so that code in them is not looked
// for.
func TestDefuseDeepNesting(t *testing.T) {
	t.Parallel()
	for _, container := range []string{"> ", ">", "- ", "1. ", "> * "} {
		shallow, deep := strings.Repeat(container, 4), strings.Repeat(container, 20)
		text := shallow + "`@bob`\n\n" + container + "`@ann`"
		if got := mapping.Defuse(text); got != text {
			t.Errorf("code in %q is defused: %q", shallow, shown(got))
		}
		text = deep + "`@bob`"
		if got, want := shown(mapping.Defuse(text)), deep+"`@|bob`"; got != want {
			t.Errorf("Defuse(%q) = %q, want %q", text, got, want)
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

// plain is a text without joiners: what people type.
func plain() *rapid.Generator[string] {
	return rapid.Map(rapid.OneOf(mappingtest.Text(), mappingtest.Markdown()), func(s string) string { return strings.ReplaceAll(s, "\u2060", "") })
}

func TestDefuseLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(mappingtest.Text(), mappingtest.Markdown()).Draw(t, "text")
		held := rapid.OneOf(mappingtest.Text(), mappingtest.Markdown(), mappingtest.Edited(text, "@ann")).Draw(t, "held")
		if back := mapping.Refuse(mapping.Defuse(text)); back != text {
			t.Errorf("Refuse(Defuse(%q)) = %q", text, back)
		}
		if back := mapping.Refuse(mapping.DefuseKeeping(text, held)); back != text {
			t.Errorf("Refuse(DefuseKeeping(%q, %q)) = %q", text, held, back)
		}
	})
}

// A text that nobody changed in planning is written to GitHub as it stands
// there: what was live is live, what was defused is defused.
func TestDefuseKeepingChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ours, theirs := plain().Draw(t, "ours"), plain().Draw(t, "theirs")
		if got := mapping.Refuse(theirs); got != theirs {
			t.Errorf("what a person typed, %q, is changed to %q", theirs, got)
		}
		held := mapping.Defuse(ours)
		if got := mapping.DefuseKeeping(mapping.Refuse(held), held); got != held {
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
		if back := mapping.Refuse(mapping.Defuse(text)); back != text {
			t.Errorf("Refuse(Defuse(%q)) = %q", text, back)
		}
		if back := mapping.Refuse(mapping.DefuseKeeping(text, held)); back != text {
			t.Errorf("Refuse(DefuseKeeping(%q, %q)) = %q", text, held, back)
		}
	})
}
