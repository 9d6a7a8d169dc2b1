package mapping

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// RouteChanges are the differences between the routes of two configurations, sorted by name.
type RouteChanges struct {
	Added, Removed []string
	Changed        []RouteChange
}

// RouteChange is one route that differs.
type RouteChange struct {
	Name   string
	Fields []string // keys of the configuration
}

// ChangesTo compares the routes with the ones that replace them.
func (rs Routes) ChangesTo(next Routes) (c RouteChanges) {
	for _, r := range rs.All() {
		now := next.ByName(r.Name)
		if now == nil {
			c.Removed = append(c.Removed, r.Name)
		} else if fields := r.differences(now); len(fields) > 0 {
			c.Changed = append(c.Changed, RouteChange{r.Name, fields})
		}
	}
	for _, r := range next.All() {
		if rs.ByName(r.Name) == nil {
			c.Added = append(c.Added, r.Name)
		}
	}
	slices.Sort(c.Added)
	slices.Sort(c.Removed)
	slices.SortFunc(c.Changed, func(a, b RouteChange) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// otherKeys has the keys of fields that have another name.
var otherKeys = map[string]string{"ProjectName": "project", "Policies": "conflicts", "DefaultPolicy": "conflicts"}

var wordStart = regexp.MustCompile(`([a-z])([A-Z])`)

// differences names the keys in which two routes are not equal. An empty list is none.
func (r *Route) differences(other *Route) (fields []string) {
	a, b := reflect.ValueOf(r).Elem(), reflect.ValueOf(other).Elem()
	for _, field := range reflect.VisibleFields(a.Type()) {
		x, y := a.FieldByIndex(field.Index), b.FieldByIndex(field.Index)
		if field.Name == "ID" || field.Name == "NewCardsIn" && r.hasDefaultNewCardsIn() && other.hasDefaultNewCardsIn() {
			continue // not a key of the configuration, or one that the file leaves out
		}
		empty := (x.Kind() == reflect.Slice || x.Kind() == reflect.Map) && x.Len() == 0 && y.Len() == 0
		if !empty && !reflect.DeepEqual(x.Interface(), y.Interface()) {
			key := cmp.Or(otherKeys[field.Name], strings.ToLower(wordStart.ReplaceAllString(field.Name, "${1}_${2}")))
			if field.Name == "Repositories" && len(r.Repositories) == 1 && len(other.Repositories) == 1 {
				key = "repository"
			}
			fields = append(fields, key)
		}
	}
	return slices.Compact(fields)
}

// hasDefaultNewCardsIn reports whether new cards become issues in the route's one repository.
func (r *Route) hasDefaultNewCardsIn() bool {
	return len(r.Repositories) == 1 && r.NewCardsIn == r.Repositories[0]
}

// None reports whether nothing differs.
func (c *RouteChanges) None() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 }

// String describes the differences, with the first names of many.
func (c *RouteChanges) String() string {
	const most = 10
	var parts []string
	say := func(what string, names []string) {
		if n := len(names); n > most {
			names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", n-most))
		}
		if len(names) > 0 {
			parts = append(parts, what+" "+strings.Join(names, ", "))
		}
	}
	var changed []string
	for _, r := range c.Changed {
		changed = append(changed, r.Name+" ("+strings.Join(r.Fields, ", ")+")")
	}
	say("added", c.Added)
	say("removed", c.Removed)
	say("changed", changed)
	return strings.Join(parts, "; ")
}
