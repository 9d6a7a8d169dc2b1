package webhook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// SecretGroup is a group of repositories with the secrets that may sign their deliveries.
type SecretGroup struct {
	// Repositories are owner/name, or owner or owner/* for all of an owner's. A group that names
	// a repository has precedence over one that names its owner.
	Repositories []string
	Secrets      [][]byte
}

// Trust maps webhook secrets to the repositories that they cover. It is immutable.
type Trust struct {
	secrets []trustedSecret
	values  [][]byte       // the secrets
	groups  map[string]int // by lower-case owner/name or owner; groups count from 1
	labels  []string       // by group; "" for the repositories outside all groups
	names   map[string]string
}

type trustedSecret struct {
	value  []byte
	groups []int // 0: the repositories outside all groups
}

// NewTrust makes a Trust of the groups, and of the secrets for all other repositories. The map
// renamed goes from a repository's lower-case name in the groups to its present name.
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

// add lets a secret cover a group. One value may cover several.
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

// group returns the group of a repository, 0 where none names it.
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

// signer is the secret that signed a delivery, with the groups it covers.
type signer struct {
	trust  *Trust
	groups []int
}

func (t *Trust) signer(secret int) signer { return signer{t, t.secrets[secret].groups} }

// confined reports whether the signer's secret leaves some repositories uncovered.
func (s signer) confined() bool { return len(s.trust.labels) > 1 }

// covers reports whether the signer's secret covers a repository.
func (s signer) covers(repo string) bool { return slices.Contains(s.groups, s.trust.group(repo)) }

// same reports whether the same secrets cover two repositories.
func (t *Trust) same(one, other string) bool {
	return len(t.labels) == 1 || t.group(one) == t.group(other)
}

// named reports whether a group of the configuration names a repository.
func (s signer) named(repo string) bool { return s.trust.group(repo) > 0 }

// key returns a delivery's key in the store. It contains the group of the repository. A holder of
// one group's secret can choose a delivery's identifiers, but must not make another group's
// delivery a duplicate.
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
