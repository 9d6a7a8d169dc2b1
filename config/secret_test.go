package config_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"planbridge/config"
)

// TestSecretIsNeverShown prints, encodes and logs secrets and what holds them in
// every way there is.
func TestSecretIsNeverShown(t *testing.T) {
	secret := config.NewSecret(canary)
	holder := struct {
		Secret config.Secret
		List   []config.Secret
		Map    map[string]config.Secret
		Ptr    *config.Secret
		hidden config.Secret
	}{secret, []config.Secret{secret}, map[string]config.Secret{"a": secret}, &secret, secret}
	c := parse(t, minimal)
	var shown strings.Builder
	for _, v := range []any{secret, &secret, holder, &holder, c, *c, fmt.Errorf("with %v", secret)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p", "%10s"} {
			fmt.Fprintf(&shown, verb+"\n", v)
		}
		if data, err := json.Marshal(v); err != nil {
			t.Error(err)
		} else {
			shown.Write(data)
		}
		for _, handler := range []slog.Handler{slog.NewTextHandler(&shown, nil), slog.NewJSONHandler(&shown, nil)} {
			slog.New(handler).Info("x", "v", v)
		}
	}
	data, err := yaml.Marshal(map[string]any{"secret": secret, "list": holder.List})
	if err != nil {
		t.Error(err)
	}
	shown.Write(data)
	for _, leak := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary)} {
		if i := strings.Index(shown.String(), leak); i >= 0 {
			t.Errorf("shown: …%s", shown.String()[max(0, i-80):i+len(leak)])
		}
	}
	if !strings.Contains(shown.String(), "[secret]") {
		t.Error("nothing says that there is a secret")
	}
	if secret.Reveal() != canary || !secret.Equal(config.NewSecret(canary)) || secret.Equal(config.Secret{}) {
		t.Error("the secret is not what it was made of")
	}
	if zero := config.NewSecret(""); !zero.IsZero() || zero.String() != "" || zero.Reveal() != "" {
		t.Error("an empty secret is none")
	}
}

func TestStoreIsShownRedacted(t *testing.T) {
	s := config.Store{URL: "rediss://u:" + canary + "@h:6380/0?sentinel_password=" + canary, Prefix: "p"}
	var shown strings.Builder
	fmt.Fprintf(&shown, "%v %+v %#v %s %q %v\n", s, s, s, s, s, config.Config{Store: s})
	slog.New(slog.NewJSONHandler(&shown, nil)).Info("x", "store", s)
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	shown.Write(data)
	if strings.Contains(shown.String(), canary) || !strings.Contains(shown.String(), "rediss://xxxxx@h:6380/0") {
		t.Error(shown.String())
	}
	if got := (config.Store{URL: "file:a.db"}).Redacted(); got != "file:a.db" {
		t.Error(got)
	}
}

// TestStoreFromEnvironment: the URL of a store may hold a password. A command that only calls the
// running service does not need it.
func TestStoreFromEnvironment(t *testing.T) {
	yaml := minimal + "store: {url: \"env:STORE\"}\n"
	if got := parse(t, yaml).Store; got.URL != "redis://u:"+canary+"@h:6379/1" {
		t.Error(got)
	}
	path := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.LoadClient(path, func(string) (string, bool) { return "", false }); err != nil {
		t.Error(err)
	}
}

func TestSecretFromFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	withToken := func(path string) string {
		return strings.Replace(minimal, "env:TOKEN", `"file:`+path+`"`, 1)
	}
	for content, want := range map[string]string{"tok": "tok", "tok\n": "tok", "tok\r\n": "tok"} {
		if c := parse(t, withToken(write("token", []byte(content)))); c.GitHub.Token.Reveal() != want {
			t.Errorf("%q gives %q", content, c.GitHub.Token.Reveal())
		}
	}
	for name, want := range map[string]string{
		write("empty", []byte("\n")):                   "it is empty",
		write("big", bytes.Repeat([]byte{'x'}, 1<<17)): "it has more than 65536 bytes",
		write("two-lines", []byte(canary+"\n\n")):      "printable ASCII only",
		dir:                        "it cannot be read",
		filepath.Join(dir, "none"): "no such file",
	} {
		if faults := faultsOf(t, withToken(name)); len(faults) != 1 || !strings.Contains(faults.Error(), want) {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

func TestAppKey(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for form, block := range map[string]*pem.Block{
		"PKCS #1": {Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)},
		"PKCS #8": {Type: "PRIVATE KEY", Bytes: pkcs8},
	} {
		path := filepath.Join(t.TempDir(), "app.pem")
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		c := parse(t, strings.Replace(minimal, "token: env:TOKEN", `app: {id: 12345, private_key: "file:`+path+`"}`, 1))
		if c.GitHub.App == nil || c.GitHub.App.ID != 12345 || !c.GitHub.Token.IsZero() {
			t.Errorf("%s: %+v", form, c.GitHub.App)
		}
	}
}
