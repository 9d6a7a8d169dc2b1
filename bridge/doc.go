// Package bridge is planbridge as one piece: it wires the store, the two
// services, the webhook intake, the pollers, the engine and the reconciler together.
//
// Its door is [New], then [App.Start], [App.Addr] and [App.Stop]; tests and
// the demo embed it that way. Start comes up and stays up while GitHub,
// planning or the store are away: the intake refuses what it cannot keep, and
// work begins when what it needs is there.
//
// settings.go turns the configuration into what the parts ask for, sides.go
// fits the two adapters to what the reconciler and the pollers need, app.go
// and run.go are the life of the process, operator.go is what commands and the
// admin listener can ask.
package bridge
