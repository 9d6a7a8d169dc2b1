package bridgetest_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// atOnce is how many worlds run beside each other. They wait for one another
// far more than they compute.
const atOnce = "4"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		os.Stderr.WriteString(err.Error() + "\n") //nolint:errcheck // there is nobody else to tell
		code = 1
	}
	os.Exit(code)
}
