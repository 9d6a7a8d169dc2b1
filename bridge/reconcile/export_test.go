package reconcile

// Random sets what is left to chance: next is a number in [0, n).
func (r *Reconciler) Random(next func(n int64) int64) { r.random = next }
