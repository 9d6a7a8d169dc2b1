package status

// CleanAsk is the body of POST /api/v1/clean. One of Item and Route is set.
type CleanAsk struct {
	Item   string `json:"item,omitempty"`  // acme/web#12, or the id of a card, a task or a link
	Route  string `json:"route,omitempty"` // of which all links are taken apart
	DryRun bool   `json:"dry_run,omitempty"`
}

// CleanResult says what was taken off, or would be.
type CleanResult struct {
	DryRun bool        `json:"dry_run"`
	Links  int         `json:"links"`  // that are meant
	Parted int         `json:"parted"` // of these, those that are taken apart
	Failed int         `json:"failed"` // and those that were given up; failures shows why
	Steps  []CleanStep `json:"steps"`
	More   bool        `json:"more"` // there are more steps than are listed
}

// CleanStep is one thing that is taken off an item.
type CleanStep struct {
	Item string `json:"item"` // acme/web#12, or the item's id
	Side string `json:"side,omitempty"`
	What string `json:"what"`
}

// mostSteps bounds the steps that a result lists.
const mostSteps = 10_000

// Took adds a step.
func (r *CleanResult) Took(step CleanStep) {
	if len(r.Steps) == mostSteps {
		r.More = true
		return
	}
	r.Steps = append(r.Steps, step)
}
