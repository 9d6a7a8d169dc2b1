package webhook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// SecretGroup is what is believed about some repositories: deliveries that one of its
// secrets signed.
type SecretGroup struct {
	// Repositories are owner/name, or owner or owner/* for all of an owner's. A group
	// that names a repository goes before one that names its owner.
	Repositories []string
	Secrets      [][]byte
}

// Trust says which webhook secret is believed about which repository. It is not
// changed once it is made.
type Trust struct {
	secrets []trustedSecret
	values  [][]byte       // of the secrets
	groups  map[string]int // by lower-case owner/name or owner: from 1
	labels  []string       // by group; "" of the repositories that none names
	names   map[string]string
}

type trustedSecret struct {
	value  []byte
	groups []int // 0: the repositories that no group names
}

// NewTrust makes a Trust of the groups, and of the secrets for all repositories that no
// group names. renamed tells, by its lower-case name in the groups, what a repository is
// called now.
func NewTrust(groups []SecretGroup, others [][]byte, renamed map[string]string) *Trust {
	t := &Trust{groups: map[string]int{}, labels: []string{""}, names: map[string]string{}}
	for was, now := range renamed {
		t.names[strings.ToLower(now)] = was
	}
	for _, secret := range others {
		t.add(secret, 0)
	}
	for i, g := range groups {
		var names []string
		for _, entry := range g.Repositories {
			name := strings.ToLower(strings.TrimSuffix(entry, "/*"))
			t.groups[name] = i + 1
			names = append(names, name)
		}
		slices.Sort(names)
		sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
		t.labels = append(t.labels, hex.EncodeToString(sum[:4]))
		for _, secret := range g.Secrets {
			t.add(secret, i+1)
		}
	}
	return t
}

// add has a secret believed about a group. One value may be believed about several.
func (t *Trust) add(secret []byte, group int) {
	if len(secret) == 0 {
		return // anybody could sign with it
	}
	i := slices.IndexFunc(t.secrets, func(s trustedSecret) bool { return bytes.Equal(s.value, secret) })
	if i < 0 {
		i = len(t.secrets)
		t.secrets, t.values = append(t.secrets, trustedSecret{value: secret}), append(t.values, secret)
	}
	t.secrets[i].groups = append(t.secrets[i].groups, group)
}

// group returns the group that a repository belongs to, 0 where none names it.
func (t *Trust) group(repo string) int {
	repo = strings.ToLower(repo)
	for _, name := range []string{repo, t.names[repo]} {
		if g, ok := t.groups[name]; ok && strings.Contains(name, "/") {
			return g
		}
	}
	owner, _, _ := strings.Cut(repo, "/")
	return t.groups[owner]
}

// signer is what the secret that signed a delivery is believed about.
type signer struct {
	trust  *Trust
	groups []int
}

func (t *Trust) signer(secret int) signer { return signer{t, t.secrets[secret].groups} }

// confined reports whether there are repositories that the signer is not believed about.
func (s signer) confined() bool { return len(s.trust.labels) > 1 }

// covers reports whether the signer is believed about a repository.
func (s signer) covers(repo string) bool { return slices.Contains(s.groups, s.trust.group(repo)) }

// same reports whether the same secrets are believed about two repositories.
func (t *Trust) same(one, other string) bool {
	return len(t.labels) == 1 || t.group(one) == t.group(other)
}

// named reports whether a group of the configuration names a repository.
func (s signer) named(repo string) bool { return s.trust.group(repo) > 0 }

// key is a delivery's key in the store, as far as it is about a repository: whoever has
// the secret of one group can choose the identifiers of a delivery, but must not make
// another group's delivery a duplicate.
func (s signer) key(delivery, repo string) string {
	group := s.trust.group(repo)
	if !slices.Contains(s.groups, group) {
		group = s.groups[0]
	}
	if label := s.trust.labels[group]; label != "" {
		return label + ":" + delivery
	}
	return delivery
}
