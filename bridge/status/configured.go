package status

import "planbridge/mapping"

// PathRoutes answers with the routes that the service runs with.
const PathRoutes = "/api/v1/routes"

// Configured is the answer of [PathRoutes]: what a new configuration is compared with.
type Configured struct {
	Routes []*mapping.Route `json:"routes"`
}
