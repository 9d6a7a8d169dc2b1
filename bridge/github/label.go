package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"planbridge/mapping"
)

// AddLabels adds labels and returns all labels of the issue. GitHub makes unknown ones. It
// silently drops all where the bridge may not push.
func (c *Client) AddLabels(ctx context.Context, repo string, number int, labels []string) ([]string, error) {
	var now []named
	k := issueCall("add_labels", repo, number).sub("labels")
	if _, err := c.do(ctx, k, http.MethodPost, map[string]any{"labels": labels}, &now); err != nil {
		return nil, err
	}
	return names(now), nil
}

// RemoveLabel removes one label and returns all labels of the issue. A label that the issue lacks
// is a success.
func (c *Client) RemoveLabel(ctx context.Context, repo string, number int, name string) ([]string, error) {
	var now []named
	k := issueCall("remove_label", repo, number).sub("labels")
	_, err := c.do(ctx, k.sub(name), http.MethodDelete, nil, &now)
	if errors.Is(err, mapping.ErrNotFound) {
		return c.withoutLabel(ctx, k, name)
	}
	if err != nil {
		return nil, err
	}
	return names(now), nil
}

// withoutLabel distinguishes a missing label from a missing issue.
func (c *Client) withoutLabel(ctx context.Context, k call, name string) ([]string, error) {
	k.op = "list_labels"
	now, err := all(ctx, c, k, func(n named) string { return string(n) })
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(now, func(s string) bool { return strings.EqualFold(s, name) }) {
		return nil, k.wrap(fmt.Errorf("%w: label %q is there and was not found", mapping.ErrUncertain, name))
	}
	return now, nil
}

// EnsureLabel makes a repository's label unless one of that name exists in any case. color is six
// hexadecimal digits.
func (c *Client) EnsureLabel(ctx context.Context, repo, name, color, description string) error {
	k := repoCall("read_label", repo).sub("labels")
	_, err := c.do(ctx, k.sub(name), http.MethodGet, nil, nil)
	if !errors.Is(err, mapping.ErrNotFound) {
		return err
	}
	k.op = "create_label"
	label := map[string]string{"name": name, "color": strings.TrimPrefix(color, "#"), "description": description}
	_, err = c.do(ctx, k, http.MethodPost, label, nil)
	var refused *mapping.Rejection
	if errors.As(err, &refused) && strings.Contains(refused.Message, "already_exists") {
		return nil
	}
	return err
}
