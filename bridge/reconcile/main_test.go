package reconcile_test

import (
	"os"
	"testing"

	"planbridge/bridge/reconcile"
	"planbridge/mapping/mappingtest"
)

func TestMain(m *testing.M) {
	mappingtest.ShareWorlds()
	mappingtest.LeaveOutAsTold(reconcile.LeaveOut)
	os.Exit(m.Run())
}
