package bridgetest

import (
	"flag"
	"os"
	"sync"
	"testing"
)

// atOnce is how many worlds run at once, unless -parallel sets it. They mostly wait and compute
// little.
const atOnce = "8"

// Built is a directory for the programs that tests build and start. RunTests removes it.
var Built = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "planbridge-built-")
	if err != nil {
		panic(err)
	}
	isBuilt = true
	return dir
})

var isBuilt bool // Built made its directory

// RunTests runs the tests of a package that starts worlds, several at once, and returns the
// exit code. leaks reports goroutines that no test ended.
func RunTests(m *testing.M, leaks func() error) (code int) {
	flag.Parse()
	isAsked := false
	flag.Visit(func(f *flag.Flag) { isAsked = isAsked || f.Name == "test.parallel" })
	if !isAsked {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			panic(err)
		}
	}
	code = m.Run()
	if isBuilt {
		os.RemoveAll(Built()) //nolint:errcheck // what stays is in the temporary directory
	}
	if err := leaks(); err != nil && code == 0 {
		os.Stderr.WriteString(err.Error() + "\n") //nolint:errcheck // there is nobody else to tell
		code = 1
	}
	return code
}
