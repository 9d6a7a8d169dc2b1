package planning

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

// hostile are texts of at most size bytes that cost a parser or a renderer the
// most, by name.
func hostile(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	columns, deep, ticks := size*3/128, "", ""
	for indent := 0; len(deep) < size-indent-40; indent += 16 {
		deep += strings.Repeat(" ", indent) + "- - - - - - - - x\n"
	}
	for n := 1; len(ticks) < size-n-1; n++ {
		ticks += strings.Repeat("`", n) + "a"
	}
	return map[string]string{
		"table":            strings.Repeat("|a", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" + strings.Repeat("|\n", 2*columns),
		"table in a quote": "> " + strings.Repeat("|a", columns) + "|\n> " + strings.Repeat("|-", columns) + "|\n" + strings.Repeat("> |\n", columns),
		"narrow tables":    fill("a|b\n-|-\n"),
		"link references":  "[a]: " + strings.Repeat("b", size/2-32) + "\n\n" + strings.Repeat("[a]", size/6),
		"image references": "[a]: <" + strings.Repeat("b", size/2-32) + "> \"t\"\n\n" + strings.Repeat("![a]", size/8),
		"footnotes":        "[^1]: " + strings.Repeat("b", size/2-32) + "\n\n" + strings.Repeat("[^1]", size/8),
		"quotes":           fill("> "), "quoted lines": fill("> > > > > > > > x\n"), "lists": fill("- "), "numbers": fill("1. "),
		"lists in quotes": fill("- > "), "indented lists": deep, "items": fill("- [ ] *a*\n"),
		"brackets": fill("["), "closed brackets": strings.Repeat("[", size/2) + strings.Repeat("]", size/2), "open links": fill("[a]("), "images": fill("![["),
		"emphasis": fill("*a_ "), "strong": fill("_a*"), "closing emphasis": strings.Repeat("a*", size/4) + strings.Repeat("*b_", size/6), "strikes": fill("~~a~ "),
		"code": ticks, "tags": fill("<b>"), "attributes": fill("<a b=\""), "comments": fill("x <!-- "), "declarations": fill("x<!A "), "divs": fill("<div>"), "cells": fill("<table><td>"),
		"addresses": fill("a@b "), "urls": fill("http://a "), "references": fill("[a]: b\n"), "paragraphs": fill("a\n\n"), "lines": fill("\n"), "quotation marks": fill("\""), "NUL": fill("\x00"),
	}
}

// TestRenderingMemoryChild is what TestMeasuredRenderingStaysInMemory runs in processes
// of their own.
func TestRenderingMemoryChild(t *testing.T) {
	name, ok := os.LookupEnv("PLANBRIDGE_RENDER")
	if !ok {
		t.Skip("run by TestMeasuredRenderingStaysInMemory")
	}
	text := hostile(64 << 10)[name]
	html, _ := RenderHTML(text, mapping.LinkImages)
	if same := SameRendering(text, text+"\n\nx"); same {
		t.Error("texts with other words render to the same")
	}
	t.Log(len(html))
}

// No text of 64 KiB takes a process more than 128 MiB.
func TestMeasuredRenderingStaysInMemory(t *testing.T) {
	t.Parallel()
	rest := peakOf(t, "nothing")
	for name, text := range hostile(64 << 10) {
		if len(text) > 64<<10 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
		if got := peakOf(t, name) - rest; got > 128<<20 {
			t.Errorf("%s: %d MiB above rest", name, got>>20)
		}
	}
}

// peakOf is the greatest memory that a process had which rendered a hostile text.
func peakOf(t *testing.T, name string) int64 {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRenderingMemoryChild$", "-test.v")
	cmd.Env = append(os.Environ(), "PLANBRIDGE_RENDER="+name)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(fmt.Errorf("%s: %w\n%s", name, err, out))
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Skip("the system does not tell a process's peak of memory")
	}
	return usage.Maxrss << 10
}

// Rendering is linear in a text's length, whatever it is.
func TestMeasuredRenderingIsLinear(t *testing.T) {
	for name := range hostile(1 << 10) {
		mappingtest.Growth(t, name, 16<<10, func(size int) {
			text := hostile(size)[name]
			RenderHTML(text, mapping.LinkImages)
			SameRendering(text, text+"\n\nx")
		})
	}
}
