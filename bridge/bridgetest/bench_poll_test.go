//go:build bench

package bridgetest_test

func measurePoll(*numbers)      {}
func measureReconcile(*numbers) {}
func measureStore(*numbers)     {}
func measureReplicas(*numbers)  {}
func measureImport(*numbers)    {}
func measureCalls(*numbers)     {}
