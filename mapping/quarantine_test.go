package mapping

import (
	"testing"
)

// TestQuarantine has a case for each part of the rule: the issues that wait, the repositories, and
// the acts that let an issue in.
func TestQuarantine(t *testing.T) {
	for association, waits := range map[string]bool{
		"OWNER": false, "MEMBER": false, "COLLABORATOR": false, "CONTRIBUTOR": false, "member": false,
		"NONE": true, "FIRST_TIMER": true, "FIRST_TIME_CONTRIBUTOR": true, "MANNEQUIN": true, "": true, "ANYTHING": true,
	} {
		issue := Issue{ID: 1, Repo: "acme/web", State: "open", UpdatedAt: firstRun, Association: association}
		e := Entrance{Scheme: LabelScheme{Prefix: "plan:"}, FirstRuns: began(firstRun)}
		for _, public := range []bool{false, true} {
			for _, quarantine := range []string{QuarantineAuto, QuarantineOff} {
				for _, released := range []bool{false, true} {
					routes := NewRoutes([]Route{{Name: "web", Repositories: []string{"acme/web"}, Direction: Both, AllowPublic: true, Quarantine: quarantine}})
					want := waits && public && quarantine == QuarantineAuto && !released
					e.Public, e.Released = public, released
					if _, why := routes.Entering(&issue, e); (why == WhyQuarantine) != want {
						t.Errorf("%q, public %v, %s, released %v: %q", association, public, quarantine, released, why)
					}
					if _, why := routes.Importing(&issue, e, ImportAll); (why == WhyQuarantine) != want {
						t.Errorf("import: %q, public %v, %s, released %v: %q", association, public, quarantine, released, why)
					}
				}
			}
		}
	}
}

func TestReleasedBy(t *testing.T) {
	issue := Issue{Author: "mallory"}
	for name, tt := range map[string]struct {
		act   Triage
		whose Authorship
		want  bool
	}{
		"a person":         {Triage{"mona", true}, Theirs, true},
		"an unknown one":   {Triage{"mona", true}, Unknown, true},
		"the author":       {Triage{"Mallory", true}, Theirs, false},
		"an App":           {Triage{"labeler[bot]", false}, Theirs, false},
		"a ghost":          {Triage{"", true}, Theirs, false},
		"the bridge":       {Triage{"planbridge", true}, Named, false},
		"the bridge's PAT": {Triage{"planbridge", true}, Answered, false},
	} {
		if got := issue.ReleasedBy(tt.act, tt.whose); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
