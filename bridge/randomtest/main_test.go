package randomtest_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/reconcile"
	"planbridge/mapping/mappingtest"
)

func TestMain(m *testing.M) {
	mappingtest.LeaveOutAsTold(reconcile.LeaveOut)
	os.Exit(bridgetest.RunTests(m, func() error { return goleak.Find() }))
}
