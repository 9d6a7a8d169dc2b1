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

// leased is the flag of commands that may run the service. It is for tests that kill the process
// and do not wait a minute for its leases to end.
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

// checkWords refuses empty words of the command line, which a shell makes of an unset variable. A
// flag with an empty value would count as left out, and a list or an import would cover everything.
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
