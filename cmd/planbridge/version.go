package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3".
var version = "dev"

type versionCmd struct{ output }

// Run implements the command.
func (c *versionCmd) Run(p *process) error {
	v := thisProgram()
	return c.print(p, v, func() error {
		_, err := fmt.Fprintln(p.stdout, v)
		return err
	})
}

// built describes this program.
type built struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisProgram() built {
	return built{programVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

func (b built) String() string {
	return fmt.Sprintf("planbridge %s (%s, %s)", b.Version, b.Go, b.Platform)
}

// programVersion is the version from the linker, else the commit that was built.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if version != "dev" || !ok {
		return version
	}
	return commitVersion(info)
}

func commitVersion(info *debug.BuildInfo) string {
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	commit := set["vcs.revision"]
	if commit == "" {
		return version
	}
	out := version + "-" + commit[:min(12, len(commit))]
	if set["vcs.modified"] == "true" {
		out += "-dirty"
	}
	return out
}
