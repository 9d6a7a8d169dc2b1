package bridge

import (
	"planbridge/bridge/adapters"
	"planbridge/bridge/planning"
)

// PlanningClient is what an App asks of one planning project.
type PlanningClient = adapters.PlanningClient

// newPlanning makes the client of a project.
func (a *App) newPlanning(o planning.Options) (PlanningClient, error) {
	if a.o.Planning != nil {
		return a.o.Planning(o), nil
	}
	return planning.New(o)
}
