package bridgetest_test

import (
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/store/redisstore/redistest"
)

// onBothStores runs a scenario on the embedded store and on a real Redis,
// beside one another and all others.
func onBothStores(t *testing.T, scenario func(t *testing.T, o bridgetest.Options)) {
	t.Parallel()
	t.Run("bolt", func(t *testing.T) {
		t.Parallel()
		scenario(t, bridgetest.Options{})
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		r := redistest.Start(t)
		scenario(t, bridgetest.Options{Store: r.URL})
	})
}
