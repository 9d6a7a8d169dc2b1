package scenariotest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"planbridge/bridge/planningtest"
)

// SetTraits changes traits by words and values, each as a scenario has it: see setTraits.
func SetTraits(traits any, words ...string) error { return setTraits(traits, split(words)) }

// setTraits changes the fields of a struct by their names in kebab case:
// conflict-status=412, normalise-markdown, success-status.create=201. A bare
// word switches a trait on, one with a dash before it off.
func setTraits(traits any, l *line) error {
	for word := l.next(); word != ""; word = l.next() {
		name, off := strings.CutPrefix(word, "-")
		if err := setTrait(reflect.ValueOf(traits).Elem(), name, strconv.FormatBool(!off)); err != nil {
			return err
		}
	}
	for _, v := range l.values {
		if err := setTrait(reflect.ValueOf(traits).Elem(), v.name, v.text); err != nil {
			return err
		}
	}
	return nil
}

func setTrait(traits reflect.Value, name, text string) error {
	head, rest, nested := strings.Cut(name, ".")
	f := traits.FieldByNameFunc(func(field string) bool {
		return strings.EqualFold(field, strings.ReplaceAll(head, "-", ""))
	})
	if !f.IsValid() {
		return fmt.Errorf("no trait %q", name)
	}
	if nested {
		return setTrait(f, rest, text)
	}
	var v any
	var err error
	switch f.Interface().(type) {
	case bool:
		v, err = strconv.ParseBool(text)
	case int:
		v, err = strconv.Atoi(text)
	case float64:
		v, err = strconv.ParseFloat(text, 64)
	case time.Duration:
		v, err = time.ParseDuration(text)
	case func(string) string:
		v = planningtest.Mangle
	default:
		v = text
	}
	if err != nil {
		return fmt.Errorf("trait %s: %w", name, err)
	}
	f.Set(reflect.ValueOf(v).Convert(f.Type()))
	return nil
}
