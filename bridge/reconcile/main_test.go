package reconcile_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"planbridge/bridge/reconcile"
	"planbridge/mapping/mappingtest"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", strconv.Itoa(100/mappingtest.Worlds)); err != nil {
		panic(err)
	}
	mappingtest.LeaveOutAsTold(reconcile.LeaveOut)
	os.Exit(m.Run())
}
