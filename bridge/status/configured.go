package status

import "planbridge/mapping"

// PathRoutes answers with the routes that the service runs with.
const PathRoutes = "/api/v1/routes"

// Configured is the answer of [PathRoutes], with which a new configuration is compared.
type Configured struct {
	Routes []*mapping.Route `json:"routes"`
}
