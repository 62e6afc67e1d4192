package holders

// The reasons for which holders are not named.
const (
	afterCallback = "what a called function value did to the lock is not known"
	bySecondPath  = "the lock is taken on one of two paths that meet"
	byInterface   = "only an interface leads to the lock, and not by its first two methods or to a deferred call"
	byOther       = "the function that holds the lock calls one that releases it"
	byClosure     = "the lock is in a closure that a helper gave, which nobody looks into"
	byGoroutine   = "the goroutine that took the lock is not the one that releases it"
	ofPool        = "how many connections a pool has is not known, so that their holders are only candidates"
	lookedUpAgain = "nothing in the frame leads to the lock: it is looked up anew to be given back"
)

// Unproven lists the kinds of code whose holders can't be named in most samples, with the reason.
var Unproven = map[string]string{
	"func-field":           afterCallback,
	"func-field-plain":     afterCallback,
	"func-variable":        afterCallback,
	"trace-hooks":          afterCallback,
	"switch":               afterCallback,
	"by-table":             afterCallback,
	"locker-defer":         byInterface,
	"locker-field-defer":   byInterface,
	"embedded-locker":      byInterface,
	"generic-locker":       byInterface,
	"interface":            byInterface,
	"odd-maybe":            bySecondPath,
	"wrapped":              bySecondPath,
	"wrapped-defer":        bySecondPath,
	"conditional-defer":    bySecondPath,
	"transaction":          bySecondPath,
	"callee-unlocks":       byOther,
	"callee-unlocks-defer": byOther,
	"odd-release":          byClosure,
	"returned-defer":       byClosure,
	"returned-method":      byClosure,
	"twice-in-map":         lookedUpAgain,
	"map-looked-up-twice":  lookedUpAgain,
	"defer-in-loop":        "the frame leads only to the lock that was taken last",
	"given-to-goroutine":   byGoroutine,
	"given-with-callback":  byGoroutine,
	"sql-exec":             ofPool,
	"sql-transaction":      ofPool,
	"indexed-store":        "a store to an element of an array in the frame makes the rest of the frame unknown",
	"method-expression":    "without optimisation, the functions are called as values",
	"odd-try":              "what TryLock did is not followed",
	"odd-relaxing":         "the holder changes all the time",
	"odd-cond":             "sync.Cond takes the lock again, in frames of its own",
	"handed over":          "between the two steps of Unlock, nobody knows who will get the lock",
}
