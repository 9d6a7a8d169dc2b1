package operator

import (
	"context"
	"time"

	"planbridge/mapping"
)

// previewPatience bounds the reads of a preview: whoever asks waits for it.
const previewPatience = 15 * time.Second

// Preview reads both items of a link and says what the next reconcile would do;
// nil where there is no pair yet.
func (o *Operator) Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error) {
	r, done, err := o.services.Previewer()
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, previewPatience)
	defer cancel()
	return r.Preview(ctx, l)
}
