//go:build bench

package benchtest_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"planbridge/bridge/bridgetest"
)

func TestMain(m *testing.M) {
	os.Exit(bridgetest.RunTests(m, func() error { return goleak.Find() }))
}
