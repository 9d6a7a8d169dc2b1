package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"planbridge/bridge/status"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3".
var version = "dev"

type versionCmd struct{ output }

// Run implements the command.
func (c *versionCmd) Run(p *process) error {
	return c.print(p, status.Version{Version: programVersion()}, func() error {
		_, err := fmt.Fprintf(p.stdout, "planbridge %s (%s, %s/%s)\n", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	})
}

// programVersion is what the linker was told, else the commit that was built.
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
