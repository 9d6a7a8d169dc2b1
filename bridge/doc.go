// Package bridge is planbridge as one piece: it wires the store, the two
// services, the webhook intake, the pollers, the engine and the reconciler together.
//
// Its entry points are [New], then [App.Start], [App.Addr] and [App.Stop]; tests and the demo embed
// it that way. Start returns even while GitHub, planning or the store do not answer. The intake
// refuses deliveries that it cannot store, and each part begins once its service answers.
//
// File app.go declares the App. File run.go is the life of the process. File reload.go takes over
// another configuration. The files services.go, projects.go and operator.go give the parts their
// clients of both services, which package open makes. The other files are the program as one part
// sees it.
package bridge
