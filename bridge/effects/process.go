package effects

import (
	"log/slog"

	"planbridge/bridge/reconcile"
)

// atProcess carries out an effect on this process. It reports whether the effect is one.
func (h *executor) atProcess(effect any, answer func(any, error)) bool {
	switch e := effect.(type) {
	case reconcile.Say:
		h.Logger.Log(h.ctx, slog.Level(e.Level), e.Text, e.Attributes...)
		answer(only(nil))
	case reconcile.Count:
		h.Metrics.of(e.Counter, e.Labels...).Inc()
		answer(only(nil))
	case reconcile.Lagged:
		h.Metrics.Lag.WithLabelValues(e.Direction).Observe(e.Took.Seconds())
		answer(only(nil))
	case reconcile.Met:
		h.Host.CardExists(e.Project, e.Card)
		answer(only(nil))
	case reconcile.Rename:
		answer(only(h.Host.IssueMoved(h.ctx, e.From, e.To)))
	case reconcile.Remembered:
		n, _ := h.numbers.Load(e.Name)
		number, _ := n.(int)
		answer(number, nil)
	case reconcile.Remember:
		was, _ := h.numbers.Swap(e.Name, e.Number)
		number, _ := was.(int)
		answer(number, nil)
	default:
		return h.atPauses(effect, answer) || h.atAbsences(effect, answer)
	}
	return true
}

func (h *executor) atPauses(effect any, answer func(any, error)) bool {
	switch e := effect.(type) {
	case reconcile.PauseLeft:
		wait, why := h.paused.left(h.Clock.Now(), e.Name)
		answer(reconcile.Pause{Wait: wait, Why: why}, nil)
	case reconcile.PauseAfter:
		wait, news := h.paused.fail(h.Clock.Now(), e.Name, e.Why, e.First, e.Most)
		answer(reconcile.Pause{Wait: wait, Why: e.Why, News: news}, nil)
	case reconcile.PauseOver:
		h.paused.ok(e.Name)
		answer(only(nil))
	default:
		return false
	}
	return true
}

func (h *executor) atAbsences(effect any, answer func(any, error)) bool {
	switch e := effect.(type) {
	case reconcile.Missed:
		answer(h.absences.missed(h.Clock.Now(), e.Scope, e.Item, e.Keep), nil)
	case reconcile.Found:
		h.absences.found(h.Clock.Now(), e.Scope, e.Item, e.Keep)
		answer(only(nil))
	case reconcile.Announce:
		answer(h.absences.announce(h.Clock.Now(), e), nil)
	default:
		return false
	}
	return true
}
