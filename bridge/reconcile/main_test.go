package reconcile_test

import (
	"os"
	"testing"

	"planbridge/mapping/mappingtest"
)

func TestMain(m *testing.M) {
	mappingtest.LeaveOutAsTold()
	os.Exit(m.Run())
}
