// Package pagetest holds a page of the documents to the code that it shows. It also reads the prose
// of pages and of comments.
package pagetest

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("design.update", false, "write what the code says into the documents")

// Section fails the test unless a page shows want between the comments "<!-- name: begin -->"
// and "<!-- name: end -->". With -design.update it writes it there instead. It returns the
// page's text before the section.
func Section(t *testing.T, page, name, want string) (before string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->\n"
	before, rest, begins := strings.Cut(string(text), begin)
	shown, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no section between %q and %q", page, begin, end)
	}
	if want = "\n" + want + "\n"; shown == want {
		return before
	}
	if !*update {
		t.Errorf("%s shows other %s than the code; go test -run %s -design.update writes them anew", page, name, t.Name())
		return before
	}
	if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
	return before
}
