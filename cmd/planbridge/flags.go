package main

import (
	"fmt"
	"reflect"
	"time"

	"github.com/alecthomas/kong"
)

// atMost is a flag that bounds a list.
type atMost int

// Validate implements kong's check of the command line.
func (n atMost) Validate() error {
	if n < 1 {
		return fmt.Errorf("%d, expected a number from 1", n)
	}
	return nil
}

// leased is the flag of commands that may run the service. It is for tests
// that kill the process and will not wait a minute until what it had in hand
// is free.
type leased struct {
	Lease time.Duration `hidden:"" default:"1m" help:"How long a key may be worked before others take it over."`
}

// Validate implements kong's check of the command line.
func (l leased) Validate() error {
	if l.Lease <= 0 {
		return fmt.Errorf("--lease: %v, expected a duration above 0", l.Lease)
	}
	return nil
}

// checkWords refuses words of the command line that are empty, as a shell
// makes them of a variable that is not set: a flag that says nothing would be
// taken for one that was left out, and a list or an import would be of all.
func checkWords(command *kong.Context) error {
	for _, p := range command.Path {
		value := p.Positional
		if p.Flag != nil {
			value = p.Flag.Value
		}
		if value == nil {
			continue
		}
		if text, ok := reflect.TypeAssert[string](value.Target); ok && text == "" {
			return fmt.Errorf("%s: \"\", expected a value", value.ShortSummary())
		}
	}
	return nil
}
