// Package config reads planbridge's configuration: one strict YAML file.
//
// Its entry point is [Load]. It returns either a [Config] or [Faults]. A Config has all defaults
// filled in, complete routes and resolved secrets. Faults are all errors in the file, each with its
// position, the value found and the value expected. A [Reloader] loads the file again while the
// service runs, and keeps the old configuration when the new one is bad.
//
// A file passes three steps. The decoder (decode.go) turns YAML into the structs of config.go and
// knows only types. The method [Config.Validate] checks their meaning. The function settle
// (load.go) derives values that the file omits. Secrets are never in the file, and never printed.
//
// The package starts nothing and logs nothing. A loaded Config never changes, so that it is safe
// for concurrent use.
package config
