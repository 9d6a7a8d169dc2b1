// Package bridge is planbridge as one piece: it wires the store, the two
// services, the webhook intake, the pollers, the engine and the reconciler together.
//
// Its door is [New], then [App.Start], [App.Addr] and [App.Stop]; tests and
// the demo embed it that way. Start returns while GitHub, planning or the store
// do not answer: the intake refuses what it cannot keep, and work begins when
// what it needs is there.
//
// settings.go turns the configuration into what the parts ask for. services.go
// gives them the clients of both services. app.go and run.go are the life of the
// process. operator.go is what commands and the admin listener can ask.
package bridge
