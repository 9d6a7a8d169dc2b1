package mapping_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/mapping/mappingtest"
)

var (
	keys  = mapping.NewKeys([]byte("the key that signs markers now"), []byte("the key that signed them before"))
	other = mapping.NewKeys([]byte("the key of somebody else"))
	mark  = mapping.Marker{Kind: mapping.MarkCard, Link: "0011223344556677", Nonce: "8899aabbccddeeff", Partner: "2093847561"}
)

func markers() *rapid.Generator[mapping.Marker] {
	return rapid.Custom(func(t *rapid.T) mapping.Marker {
		return mapping.Marker{
			Kind:    rapid.SampledFrom([]mapping.MarkerKind{mapping.MarkIssue, mapping.MarkCard, mapping.MarkTask, mapping.MarkConflict}).Draw(t, "kind"),
			Link:    mappingtest.LinkID().Draw(t, "link"),
			Nonce:   string(mappingtest.LinkID().Draw(t, "nonce")),
			Partner: string(mappingtest.ObjectID().Draw(t, "partner")),
		}
	})
}

// The text of a marker is stored in items of both services: it must never
// change.
func TestMarkerText(t *testing.T) {
	t.Parallel()
	const want = "planbridge-1.c.0011223344556677.8899aabbccddeeff.2093847561."
	got := keys.Sign(mark)
	if !strings.HasPrefix(got, want) || len(got) != len(want)+32 {
		t.Errorf("Sign = %q, want %q and 32 hexadecimal digits", got, want)
	}
	if again := keys.Sign(mark); again != got {
		t.Errorf("signed again: %q, want %q", again, got)
	}
	if m, ok := keys.Parse(got); !ok || m != mark {
		t.Errorf("Parse = %+v, %v", m, ok)
	}
}

func TestMarkerRoundTrip(t *testing.T) {
	t.Parallel()
	plain := regexp.MustCompile(`^[A-Za-z0-9.-]+$`)
	rapid.Check(t, func(t *rapid.T) {
		m := markers().Draw(t, "marker")
		text := keys.Sign(m)
		if !plain.MatchString(text) {
			t.Errorf("%q does not go into a URL as it is", text)
		}
		if got, ok := keys.Parse(text); !ok || got != m {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", text, got, ok, m)
		}
		found := keys.Find("see " + strings.NewReplacer(".", `\.`, "-", `\-`).Replace(text) + ", " + text + ".")
		if diff := cmp.Diff([]mapping.Marker{m, m}, found); diff != "" {
			t.Error(diff)
		}
	})
}

// Nobody without the key can make a marker, or make another one of one.
func TestMarkerForged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := markers().Draw(t, "marker")
		text := keys.Sign(m)
		if _, ok := other.Parse(text); ok {
			t.Errorf("another key accepts %q", text)
		}
		forged := []byte(text)
		at := rapid.IntRange(0, len(forged)-1).Draw(t, "at")
		forged[at] = rapid.SampledFrom([]byte("0123456789abcdefxyz.-_ ")).Draw(t, "byte")
		if got, ok := keys.Parse(string(forged)); ok && string(forged) != text {
			t.Errorf("forged %q is accepted as %+v", forged, got)
		}
		if _, ok := keys.Parse(text[:at]); ok {
			t.Errorf("cut %q is accepted", text[:at])
		}
	})
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	oldKey, newKey := []byte("old"), []byte("new")
	before, during, after := mapping.NewKeys(oldKey), mapping.NewKeys(newKey, oldKey), mapping.NewKeys(newKey)
	if m, ok := during.Parse(before.Sign(mark)); !ok || m != mark {
		t.Error("an old marker is not accepted while rotating")
	}
	if m, ok := after.Parse(during.Sign(mark)); !ok || m != mark {
		t.Error("what is signed while rotating is not signed with the first key")
	}
	if _, ok := after.Parse(before.Sign(mark)); ok {
		t.Error("a withdrawn key is still accepted")
	}
	if _, ok := (mapping.Keys{}).Parse(before.Sign(mark)); ok {
		t.Error("no key accepts a marker")
	}
	copy(newKey, "xxx")
	if _, ok := after.Parse(during.Sign(mark)); !ok {
		t.Error("the keys are not copies")
	}
	defer func() {
		if recover() == nil {
			t.Error("signed without a key")
		}
	}()
	mapping.Keys{}.Sign(mark)
}

// TestSigningNeedsAKey: a marker that nobody can verify does not get out.
func TestSigningNeedsAKey(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a marker was signed without a key")
		}
	}()
	mapping.Keys{}.Sign(mark)
}

func TestParseRejects(t *testing.T) {
	t.Parallel()
	good := keys.Sign(mark)
	for _, text := range []string{
		"", ".", "planbridge-1", "planbridge-1.c.a.b.c", strings.ToUpper(good), " " + good, good + " ", good + ".", "x" + good,
		strings.Replace(good, "planbridge-1", "planbridge-2", 1), strings.Replace(good, ".c.", ".i.", 1), strings.Replace(good, ".", "..", 1),
	} {
		if m, ok := keys.Parse(text); ok {
			t.Errorf("Parse(%q) = %+v", text, m)
		}
	}
}

func FuzzParseMarker(f *testing.F) {
	good := keys.Sign(mark)
	f.Add(good)
	f.Add(good[:len(good)-1] + "0")
	f.Add("planbridge-1.c.-.-2.-zz.00112233445566778899aabbccddeeff")
	f.Fuzz(func(t *testing.T, text string) {
		m, ok := keys.Parse(text)
		if ok && !strings.EqualFold(keys.Sign(m), text) && !strings.EqualFold(mapping.NewKeys([]byte("the key that signed them before")).Sign(m), text) {
			t.Errorf("%q is accepted as %+v", text, m)
		}
		if !ok && len(keys.Find(text)) > 0 && !strings.Contains(text, good) && !strings.ContainsAny(text, `\`) {
			t.Errorf("found a marker in %q", text)
		}
	})
}
