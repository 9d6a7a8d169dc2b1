package planning

import (
	"strings"
	"sync"
	"testing"

	"planbridge/mapping"
)

func TestRenderHTML(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"*a* **b** ~~c~~":            "<p><em>a</em> <strong>b</strong> <del>c</del></p>",
		"# h":                        "<h1>h</h1>",
		"a\r\nb":                     "<p>a\nb</p>",
		"1 < 2 & 3":                  "<p>1 &lt; 2 &amp; 3</p>",
		"<b>x</b><script>y</script>": "<p><b>x</b></p>",
		"[x](javascript:alert(1))":   "<p>x</p>",
		"<img src=x onerror=y>":      "",
		"- [x] done":                 "<ul>\n<li><input checked=\"\" disabled=\"\" type=\"checkbox\"> done</li>\n</ul>",
		"```go\nx\n```":              "<pre><code class=\"language-go\">x\n</code></pre>",
		"|a|\n|-|\n|b|":              "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n</tr>\n</tbody>\n</table>",
	} {
		if got, _ := RenderHTML(in, mapping.LinkImages); got != want {
			t.Errorf("%q renders as\n%q, want\n%q", in, got, want)
		}
	}
	for _, in := range []string{`<input type="text">`, `<iframe src="x">`, `<a href="javascript:x">y</a>`, `<p onclick="x">y</p>`, `<style>x</style>`, `<code class="evil x">y</code>`} {
		if got, _ := RenderHTML(in, mapping.InlineImages); strings.ContainsAny(got, "=") || strings.Contains(got, "frame") || strings.Contains(got, "style") {
			t.Errorf("%s renders as %s", in, got)
		}
	}
}

// The footer that carries a marker must survive.
func TestRenderKeepsLinks(t *testing.T) {
	got, _ := RenderHTML("[acme/web#12](https://github.com/acme/web/issues/12#pb1.abc-_=)", mapping.LinkImages)
	if !strings.Contains(got, `href="https://github.com/acme/web/issues/12#pb1.abc-_="`) || !strings.Contains(got, ">acme/web#12</a>") {
		t.Error(got)
	}
}

func TestSameRendering(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"", "\n\n", true},
		{"a", "a\n", true},
		{"a\r\nb", "a\nb", true},
		{"a\n\n\nb", "a\n\nb", true},
		{"* a\n* b", "- a\n- b", true},
		{"*a*", "_a_", true},
		{"# a", "a\n===", true},
		{"a ", "a", true},
		{"a  \nb", "a\nb", false},
		{"a", "b", false},
		{"a", "", false},
		{"*a*", "a", false},
		{"- [ ] a", "- [x] a", false},
		{"a <!-- 1 -->", "a <!-- 2 -->", false},
		{"<script>1</script>", "<script>2</script>", false},
		{"1. a", "2. a", false},
		{"[a](http://x)", "[a](http://y)", false},
		{"`a`", "a", false},
	} {
		if got := SameRendering(tt.a, tt.b); got != tt.want {
			t.Errorf("SameRendering(%q, %q) = %v", tt.a, tt.b, got)
		}
		if SameRendering(tt.a, tt.b) != SameRendering(tt.b, tt.a) {
			t.Errorf("%q and %q: not symmetric", tt.a, tt.b)
		}
	}
}

func TestRenderConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got, _ := RenderHTML("- [ ] *a*\n\n|b|\n|-|", mapping.LinkImages); got == "" {
					t.Error("nothing rendered")
				}
			}
		})
	}
	wg.Wait()
}
