package poll

import (
	"context"
	"fmt"
)

// Adopt completes the adoption of the project once GitHub's side has been
// looked through as well, without waiting for the next round. Before a complete
// round, and while one is under way (which then sees to it), it does nothing.
func (p *Poller) Adopt(ctx context.Context) error {
	if !p.atWork.Try() {
		return nil
	}
	defer p.atWork.End()
	if !p.looked {
		return nil
	}
	adopted, err := p.load(ctx)
	if err == nil && !adopted && p.looked {
		err = p.adopt(ctx)
	}
	if err != nil {
		return fmt.Errorf("adopt project %s: %w", p.o.Name, err)
	}
	return nil
}
