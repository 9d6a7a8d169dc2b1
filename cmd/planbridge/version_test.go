package main

import (
	"encoding/json"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	if r := runWith(t, nil, "version"); r.status != exitOK || !strings.HasPrefix(r.out, "planbridge "+programVersion()+" (go1.") {
		t.Errorf("version: %+v", r)
	}
	if r := runWith(t, nil, "--version"); r.status != exitOK || r.out != thisProgram().String()+"\n" {
		t.Errorf("--version: %+v", r)
	}
	var v built
	if r := runWith(t, nil, "version", "-o", "json"); json.Unmarshal([]byte(r.out), &v) != nil || v != thisProgram() {
		t.Errorf("version as JSON: %+v", r)
	}
	out, err := exec.CommandContext(t.Context(), binary, "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "planbridge v0.0.0-test (go1.") {
		t.Errorf("version of the binary: %s %v", out, err)
	}
}

func TestCommitVersion(t *testing.T) {
	set := func(pairs ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{}
		for i := 0; i < len(pairs); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return info
	}
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for want, info := range map[string]*debug.BuildInfo{
		"dev":                    set(),
		"dev-0123456789ab":       set("vcs.revision", commit, "vcs.modified", "false"),
		"dev-0123456789ab-dirty": set("vcs.revision", commit, "vcs.modified", "true"),
		"dev-0123":               set("vcs.revision", "0123"),
	} {
		if got := commitVersion(info); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
