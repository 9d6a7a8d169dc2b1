package mapping_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

var (
	referenceTexts = flag.Int("defuse.texts", 100_000/mappingtest.Share, "random texts that the reference for defusing gets")
	referenceSeed  = flag.Uint64("defuse.seed", 0, "seed of these texts; 0: from the clock")
)

// dangerous are the pieces that random texts are made of. A "§" becomes the
// text's number, so that no text defines another's links and footnotes.
var dangerous = strings.Split(strings.ReplaceAll(
	// Live places, in each of their spellings.
	`@octocat|@acme/team|@|octocat|bob|&#64octocat|&#64;octocat|&#x40;|&#x40|&commat;|&#0000064;octo|@&#98;ob|@<!-- -->bob|&amp;#64;bob|bob@example.com|&copy@bob|`+
		`#12|acme/web#12|#|12|2|&#35;|&#35&#49;2|&num;12|#&#49;2|#<!-- -->12|#<b></b>12|&#|`+
		`GH-12|gh-7|GH\-12|GH-&#49;2|G&#72;-12|GH-<!-- -->12|G<!-- -->H-12|GH<x>-12|GH-|GH|-|H-12|&#71;|`+
		`https://github.com/acme/other/issues/1|https:\/\/github.com/acme/other/issues/1|www.github.com/acme/other/issues/1|https://github.com/acme/other/issues&#47;1|`+
		`http://www.github.com/acme/other/pull/1|//github.com/acme/other/issues/1|https://github.com/acme/o\/issues/1|https&colon;//github.com/a/b/issues/1|`+
		`HTTPS://GITHUB.COM/a/b/Issues/1|https://github.com/a/b/%69ssues/1|www\.github.com/a/b/issues/1|w&#119;w.github.com/a/b/issues/1|`+
		`https://medium.com/@octocat|https://example.com/x#12|http://a.b/c)@bob|xhttps://a.b/@bob|https://a.b/`+"`"+`x|www.a.b/`+"`"+`|ftp://a.b/`+"`"+`|`+
		`closes |Close: |fixes |fixed |Resolves |resolved |fix |`+
		// Texts that may hide them.
		"`|``|```|````|\\`|`x`|`@octocat`|``#12``|\n```\n|\n```go\n|\n~~~\n|\n  ```\n|\n   ```\n|\n    ```\n|\n> ```\n|\n>```\n|\n- ```\n|\n1. ```\n|\n[^§]: ```\n|```x```|~~~|"+
		`[|]|(|)|![|](|](/u)|](<|](u "|")|[x]|[x](|[a][b]|][|[r§]|[^§]|`+"\n\n[r§]: |\n[^§]: |"+`[x](https://medium.com/@octocat)|<https://medium.com/@octocat>|<bob@example.com>|`+
		`<div>|</div>|<p>|</p>|<b>|</b>|<pre>|</pre>|<code>|</code>|<a href="|">|<a href=|<img src=|<details>|<summary>|<kbd>|<x>|</x>|<!--|-->|<!-- -->|<!-->|<?|?>|<![CDATA[|]]>|<!X|<select>|`+
		`<script>|<style>|<textarea>|<svg>|<table>|<br>|<br/>|<span title="|<a `+"`"+`|<|>|&|&lt;|&#60;|&#|;|`+
		// Links that may run a program.
		`javascript:alert(1)|JaVaScript:x|java&#115;cript:x|javascript&colon;x|javascript\:x|vbscript:x|data:text/html,x|java`+"\t"+`script:x|&#1;javascript:x|`+
		`[x](javascript:alert(1))|[x](<javascript:x>)|<javascript:x>|[x](data:x)|![x](data:image/png,x)|`+"[s§]: javascript:x\n|[s§]|"+
		// Parts that give a text its form.
		" | | |\n|\n|\n|\n\n|\n\n|\r|\r\n|\t|\n\t|\n  |\n    |\n> |\n> > |\n- |\n- [ ] |\n* |\n1. |\n2) |\n# |\n===\n|\n---\n|\n¦---¦---¦\n|¦|\n¦ a ¦ b ¦\n|*|**|_|__|~|~~|\\|\\\\|\\\n|"+
		"a|A|é|x |. |, |:|://|/|www.|.|'|\"|=|\u2060|\u2064\u2060|\u2064|\u200b|\u202e|\ufeff|\u00a0|\x00|👩‍🚀|issues|/issues/|$", "¦", "\x1f"), "|")

// randomText draws a text from the dangerous pieces. Three words in four stand
// apart, as people's do.
func randomText(r *rand.Rand, number int) string {
	var b strings.Builder
	apart := r.IntN(4) > 0
	for range 1 + r.IntN(10) {
		b.WriteString(dangerous[r.IntN(len(dangerous))])
		if apart && r.IntN(3) == 0 {
			b.WriteByte(" \n"[r.IntN(8)/7])
		}
	}
	text := strings.ReplaceAll(b.String(), "\x1f", "|")
	return strings.ReplaceAll(text, "§", strconv.Itoa(number))
}

// TestDefuseReference compares defusing with GitHub's own Markdown library. Random texts made of
// dangerous pieces have nothing live once they are defused, and each is restored exactly.
func TestDefuseReference(t *testing.T) {
	t.Parallel()
	seed := *referenceSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d: go test -run TestDefuseReference ./mapping -defuse.seed %d", seed, seed)
	const batch = 1000
	var running sync.WaitGroup
	turns := make(chan struct{}, 2)
	for from := 0; from < *referenceTexts && !t.Failed(); from += batch {
		turns <- struct{}{}
		running.Go(func() {
			defer func() { <-turns }()
			r := rand.New(rand.NewPCG(seed, uint64(from)))
			texts := make([]string, batch)
			for i := range texts {
				texts[i] = randomText(r, i)
			}
			defuseReference(t, texts)
		})
	}
	running.Wait()
}

func defuseReference(t *testing.T, texts []string) {
	defused := make([]string, len(texts))
	var given, carried []string // of those with a link's scheme
	for i, text := range texts {
		defused[i] = mapping.Defuse(text)
		if back := mapping.Restore(defused[i]); back != text {
			t.Errorf("Restore(Defuse(%q)) = %q", text, back)
		}
		if !strings.Contains(text, "script") && !strings.Contains(text, "data") {
			continue
		}
		inPlanning := mapping.PlanningForm(mapping.Summary, text, "")
		if given, carried = append(given, text), append(carried, inPlanning); !mapping.Equal(mapping.Summary, text, inPlanning) {
			t.Errorf("what planning gets of %q, %q, is not the same text", text, inPlanning)
		}
	}
	for i, rendered := range cmarkBatch(t, defused) {
		if live, links := liveIn(t, rendered); len(live)+len(links) > 0 {
			t.Errorf("GitHub: live %q %q in %s", live, links, described(texts, defused, i, rendered))
		}
	}
	for i, rendered := range cmarkBatch(t, carried) {
		if _, links := liveIn(t, rendered); len(links) > 0 {
			t.Errorf("planning: live %q in %s", links, described(given, carried, i, rendered))
		}
	}
}

// described says what a part of a batch came from.
func described(texts, sent []string, i int, rendered string) string {
	if i == len(texts) {
		return "the footnotes " + rendered
	}
	return fmt.Sprintf("%q, sent as %q, rendered as %s", texts[i], shown(sent[i]), rendered)
}

// TestCmarkBatch shows that a text renders among others as it does alone.
func TestCmarkBatch(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 100)
	for i := range texts {
		for texts[i] = "\r"; strings.ContainsAny(texts[i], "\r") || strings.Contains(texts[i], "[^"); {
			texts[i] = randomText(r, i)
		}
	}
	for i, part := range cmarkBatch(t, texts)[:len(texts)] {
		live, links := liveIn(t, strings.TrimSpace(part))
		aloneLive, aloneLinks := liveIn(t, strings.TrimSpace(cmark(t, texts[i])))
		if !slices.Equal(live, aloneLive) || !slices.Equal(links, aloneLinks) {
			t.Errorf("%q has live %q %q among others, %q %q alone", texts[i], live, links, aloneLive, aloneLinks)
		}
	}
}
