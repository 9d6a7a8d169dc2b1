package repositories

import (
	"testing"
	"time"
)

// TestDoubtIsNewOnce: deliveries that say that a repository is private are many; the
// first one has what is withheld looked through.
func TestDoubtIsNewOnce(t *testing.T) {
	var v visibilities
	v.put("acme/web", visibility{}, visibility{public: true, told: true, until: time.Now().Add(time.Minute)})
	if !v.doubt("acme/web") || v.doubt("Acme/Web") {
		t.Error("the first doubt is new, and no other")
	}
	was, fresh := v.of("acme/web")
	if !was.public || fresh {
		t.Errorf("in doubt it is %+v, fresh: %t", was, fresh)
	}
	v.put("acme/web", was, visibility{public: true, told: true, until: time.Now().Add(time.Minute)}) // GitHub was asked
	if !v.doubt("acme/web") {
		t.Error("after GitHub's answer a doubt is new")
	}
}
