package preflight_test

import (
	"fmt"
	"testing"

	"planbridge/bridge/preflight"
)

func TestHookURL(t *testing.T) {
	for server, want := range map[string]string{
		"https://planbridge.example.com":                  "https://planbridge.example.com/webhooks/github",
		"https://planbridge.example.com/webhooks/github":  "https://planbridge.example.com/webhooks/github",
		"https://example.com/bridge":                      "https://example.com/bridge/webhooks/github",
		"https://10.0.0.7":                                "https://10.0.0.7/webhooks/github",
		"http://127.0.0.1:7110":                           "http://127.0.0.1:7110/webhooks/github",
		"http://localhost:7110/":                          "http://localhost:7110/webhooks/github",
		"http://[::1]:7110":                               "http://[::1]:7110/webhooks/github",
		"http://planbridge.example.com":                   "",
		"http://10.0.0.7:8080":                            "",
		"http://localhost.example.com":                    "",
		"ftp://planbridge":                                "",
		"127.0.0.1:7110":                                  "",
		"planbridge.example.com":                          "",
		"https://":                                        "",
		"https://:443":                                    "",
		"https://user:secret@planbridge.example.com":      "",
		"https://planbridge.example.com/?token=secret":    "",
		"https://planbridge.example.com/#webhooks/github": "",
	} {
		got, err := preflight.WebhookURL(server)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("HookURL(%q) = %q, %v, want %q", server, got, err, want)
		}
		says := fmt.Sprintf("webhook %q: expected the public address of planbridge, such as https://planbridge.example.com (http only for a loopback address)", server)
		if err != nil && err.Error() != says {
			t.Errorf("HookURL(%q): %v, want %s", server, err, says)
		}
	}
}
