package reconcile

import "slices"

func (l logger) say(level Level, text string, attributes []any) {
	send(l.w, Say{level, text, append(slices.Clip(l.of), attributes...)})
}

func (l logger) Debug(text string, attributes ...any) { l.say(Debug, text, attributes) }

func (l logger) Info(text string, attributes ...any) { l.say(Info, text, attributes) }

func (l logger) Warn(text string, attributes ...any) { l.say(Warn, text, attributes) }

func (l logger) Error(text string, attributes ...any) { l.say(Error, text, attributes) }

// logger names the link, and the delivery that led to this work, if any.
func (w *state) logger() logger { return logger{w, about(w.link, w.owner, w.delivery)} }

func (w *state) count(c Counter, labels ...string) { send(w, Count{c, labels}) }
