// Package config reads planbridge's configuration: one strict YAML file.
//
// Its door is [Load]. It answers either a [Config] in which every default is
// filled in, every route stands on its own and every secret is resolved, or
// [Faults]: everything that is wrong with the file, each fault with its place,
// what stands there and what was expected. [Reloader] loads the file again
// while the service runs and keeps the old configuration when the new one is
// bad.
//
// A file goes through three steps: the decoder (decode.go) turns YAML into
// the structs of config.go and knows types only; [Config.Validate] holds the
// structs to what they mean; settle (load.go) derives what the file leaves
// unsaid. Secrets are never in the file, and never in anything printed.
//
// Nothing here starts anything or logs. A loaded Config is not changed
// any more and so is safe for concurrent use.
package config
