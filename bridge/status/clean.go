package status

// CleanAsk is the body of POST /api/v1/clean. One of Item and Route is set. With Project and
// Bucket, the issues of the route move to cards there, and pairs are not taken apart.
type CleanAsk struct {
	Item   string `json:"item,omitempty"`  // acme/web#12, or the id of a card, a task or a link
	Route  string `json:"route,omitempty"` // of which all links are taken apart
	DryRun bool   `json:"dry_run,omitempty"`
	// Project and Bucket are where the route leads, by name or id.
	Project string `json:"project,omitempty"`
	Bucket  string `json:"bucket,omitempty"`
}

// Moves reports whether the request moves issues to other cards.
func (a CleanAsk) Moves() bool { return a.Project != "" || a.Bucket != "" }

// CleanResult lists the marks that were removed, or would be.
type CleanResult struct {
	DryRun bool `json:"dry_run"`
	Links  int  `json:"links"`  // that are meant
	Parted int  `json:"parted"` // of these, those that are taken apart
	Moved  int  `json:"moved"`  // and those whose issues get a card elsewhere
	There  int  `json:"there"`  // and those that were apart, or had their cards at the move's target, before
	Stayed int  `json:"stayed"` // and those that the move does not concern
	Failed int  `json:"failed"` // and those that failed, or wait for people's answers
	// Refused is why a run would be refused now. It is of a dry run.
	Refused string `json:"refused,omitempty"`
	// Writes counts the writes to GitHub that a move needs. Forecast is how long they take under
	// its budget, and Bound the configuration key of that budget. All are of a dry run.
	Writes   int         `json:"writes,omitempty"`
	Forecast float64     `json:"forecast_seconds,omitempty"`
	Bound    string      `json:"bound,omitempty"`
	Steps    []CleanStep `json:"steps"`
	More     bool        `json:"more"` // there are more steps than are listed
}

// CleanStep is one mark that is removed from an item.
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
