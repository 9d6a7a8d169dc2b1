// Package bridge is planbridge as one piece: it wires the store, the two
// services, the webhook intake, the pollers, the engine and the reconciler together.
//
// Its door is [New], then [App.Start], [App.Addr] and [App.Stop]; tests and
// the demo embed it that way. Start returns while GitHub, planning or the store
// do not answer: the intake refuses what it cannot keep, and work begins when
// what it needs is there.
//
// app.go makes the parts, run.go is the life of the process, and reload.go takes over another
// configuration. services.go, projects.go and operator.go give the parts the clients of both
// services, which package open makes. The other files are the program as one part sees it.
package bridge
