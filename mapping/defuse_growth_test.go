package mapping_test

import (
	"runtime"
	"strings"
	"testing"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

// hardTexts are repeated to make texts that cost much to read.
var hardTexts = []string{
	"a://a/", "://", "/", "//", "://a/issues/1", "://a/issues/1 ", "https://a.b/", " https://a.b/@x", "https://a.b/`", "www.", "(https://a.b", "@", "@a", "a@", "#", "#1", "gh-", "gh-1 ",
	"&", "&#", "&#6", "&#64", "&amp", "@\\", "\\", "`", "` ", "`` ` ", "`a` ", "~~~\n", "```\n", "\n ```\n", "\n```\n> ", "[", "]", "](", "[](", "[a](b)", "![", "[^", "]: ", "<", "<a ", "<b>", "a<b>", "<!-- ",
	"<!-- -->", "=", "=data:", "](data:", "<javascript:x>", "> ", "- ", "1. ", "|", "|a", "| `a` ", "\n", "\r", " ", "\t", "\u2060", "@\u2060", "\u2064\u2060", "\u2064", "é", "\xff", "&#0000000000000000000000000000000000000000",
}

// cross takes a text over to GitHub and to planning, where held stands, and
// back.
func cross(text, held string) {
	onGitHub := mapping.GitHubForm(mapping.Summary, text, held)
	inPlanning := mapping.PlanningForm(mapping.Summary, text, held)
	mapping.PlanningForm(mapping.Summary, onGitHub, "")
	mapping.GitHubForm(mapping.Summary, inPlanning, "")
	mapping.Equal(mapping.Summary, onGitHub, inPlanning)
}

func repeated(unit string, size int) string { return strings.Repeat(unit, size/len(unit)+1)[:size] }

// TestMeasuredDefuseIsLinear: the time that a text takes on its ways grows no faster
// than the text, whatever it is made of.
func TestMeasuredDefuseIsLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range hardTexts {
		mappingtest.Growth(t, "a text of "+unit, 8<<10, func(size int) {
			text := repeated(unit, size)
			cross(text+"/issues/1", text+" @b `c`")
		})
	}
}

// TestMeasuredDefuseStaysInMemory: a text of 64 KiB takes a bounded amount of memory,
// whatever it is made of. It does not run beside other tests.
func TestMeasuredDefuseStaysInMemory(t *testing.T) {
	texts := map[string]string{
		"a table with a code span": strings.Repeat("|a", 8<<10) + "\n" + strings.Repeat("|-", 8<<10) + "\n" + strings.Repeat("|\n", 16<<10) + "`x` @b",
		"link references":          "[a]: " + strings.Repeat("x", 32<<10) + " `y`\n" + strings.Repeat("[a]", 10<<10) + " @b",
	}
	for _, unit := range hardTexts {
		texts[unit] = repeated(unit, 64<<10) + "/issues/1 `x` @b"
	}
	// The process never gives memory back to the system: its growth is the peak. All allocations
	// depend on pools, which the race detector empties at random.
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for name, text := range texts {
		cross(text, text+"x")
		runtime.ReadMemStats(&after)
		if used := (int64(after.HeapSys) - int64(before.HeapSys)) >> 20; used > 128 {
			t.Fatalf("%s: %d bytes took %d MiB on their ways", name, len(text), used)
		}
	}
}

func FuzzDefuseGrowth(f *testing.F) {
	for _, unit := range hardTexts {
		f.Add(unit)
	}
	f.Fuzz(func(t *testing.T, unit string) {
		if unit == "" || len(unit) > 256 {
			return
		}
		mappingtest.Growth(t, "a text of "+unit, 1<<10, func(size int) { // small: many texts tell more
			text := repeated(unit, size)
			cross(text, text+" ")
		})
	})
}
