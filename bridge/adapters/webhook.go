package adapters

import (
	"planbridge/bridge/github"
	"planbridge/bridge/webhook"
)

// Decoder verifies and reads deliveries as the GitHub adapter does.
type Decoder struct{}

// Verify implements [webhook.Decoder].
func (Decoder) Verify(secrets, body [][]byte, header string) (int, error) {
	return github.VerifySignature(secrets, body, header)
}

// Payload implements [webhook.Decoder].
func (Decoder) Payload(contentType string, body []byte) ([]byte, error) {
	return github.Payload(contentType, body)
}

// Parse implements [webhook.Decoder].
func (Decoder) Parse(name string, payload []byte) (webhook.Event, error) {
	return parseEvent(name, payload)
}

// parseEvent fits GitHub's events to the intake.
func parseEvent(name string, payload []byte) (webhook.Event, error) {
	e, err := github.ParseEvent(name, payload)
	return webhook.Event{
		Action: e.Action, Issue: e.Issue, OldIssue: e.Changes.OldIssue, NewIssue: e.Changes.NewIssue, Repo: e.Repo, RepoID: e.RepoID, Private: e.RepoPrivate, VisibilityKnown: e.RepoTold, Label: e.Label, Sender: e.Sender, SenderID: e.SenderID, SenderType: e.SenderType,
		Parent: e.Parent, SubIssue: e.SubIssue, TitleFrom: e.Changes.TitleFrom, BodyFrom: e.Changes.BodyFrom, OldRepo: e.Changes.OldRepo, Installation: e.Installation,
	}, err
}
