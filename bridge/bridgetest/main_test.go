package bridgetest_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"planbridge/bridge/reconcile"
	"planbridge/mapping/mappingtest"
)

// atOnce is how many worlds run beside each other, where -parallel says nothing
// else. They wait for one another far more than they compute.
const atOnce = "8"

// built is where programs are built that tests start.
var built string

func TestMain(m *testing.M) {
	flag.Parse()
	mappingtest.LeaveOutAsTold(reconcile.LeaveOut)
	dir, err := os.MkdirTemp("", "planbridge-built-")
	if err != nil {
		panic(err)
	}
	built = dir
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	os.RemoveAll(built) //nolint:errcheck // what stays is in the temporary directory
	if err := goleak.Find(); err != nil && code == 0 {
		os.Stderr.WriteString(err.Error() + "\n") //nolint:errcheck // there is nobody else to tell
		code = 1
	}
	os.Exit(code)
}
