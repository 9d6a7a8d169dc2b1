package mapping

// A route keeps its identity when it gets another name. The store has its facts of the route under
// it: when it began to run, whether it is paused, which cards its buckets had.

// Identity names the route in the store: it is the first name that the route had.
func (r *Route) Identity() string {
	if r.ID == "" {
		return r.Name
	}
	return r.ID
}

// ByIdentity returns the route of that identity, or nil.
func (rs Routes) ByIdentity(id string) *Route {
	for i := range rs.list {
		if rs.list[i].Identity() == id {
			return &rs.list[i]
		}
	}
	return nil
}

// IdentityOf is the identity of the route of that name. A name that no route has stands for itself.
func (rs Routes) IdentityOf(name string) string {
	if r := rs.ByName(name); r != nil {
		return r.Identity()
	}
	return name
}

// NameOf is the name of the route of that identity. An identity that no route has stands for itself.
func (rs Routes) NameOf(id string) string {
	if r := rs.ByIdentity(id); r != nil {
		return r.Name
	}
	return id
}
