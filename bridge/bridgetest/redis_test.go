package bridgetest_test

import (
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/store/redisstore/redistest"
)

// onBothStores runs a scenario on the embedded store and on a real Redis.
func onBothStores(t *testing.T, scenario func(t *testing.T, o bridgetest.Options)) {
	t.Run("bolt", func(t *testing.T) { scenario(t, bridgetest.Options{}) })
	t.Run("redis", func(t *testing.T) {
		r := redistest.Start(t)
		scenario(t, bridgetest.Options{Store: r.URL})
	})
}
