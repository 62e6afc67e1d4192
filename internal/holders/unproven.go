package holders

// The reasons for which holders are not named.
const (
	afterCallback = "what a called function value did to the lock is not known"
	bySecondPath  = "the lock is taken on one of two paths that meet"
	byInterface   = "only an interface leads to the lock, and not by its first two methods or to a deferred call"
	byClosure     = "the lock is in a closure that a helper gave, which nobody looks into"
	byGoroutine   = "without optimisation, nothing proves that another goroutine releases the lock"
	ofPool        = "how many connections a pool has is not known, so that their holders are only candidates"
	lookedUpAgain = "nothing in the frame leads to the lock: it is looked up anew to be given back"
)

// Unproven lists the kinds of code whose holders can't be named in most samples, with the reason.
var Unproven = map[string]string{
	"by-table":            afterCallback,
	"generic-locker":      byInterface,
	"interface":           byInterface,
	"odd-maybe":           bySecondPath,
	"wrapped":             bySecondPath,
	"wrapped-defer":       bySecondPath,
	"conditional-defer":   bySecondPath,
	"transaction":         bySecondPath,
	"odd-release":         byClosure,
	"returned-defer":      byClosure,
	"returned-method":     byClosure,
	"twice-in-map":        lookedUpAgain,
	"map-looked-up-twice": lookedUpAgain,
	"defer-in-loop":       "the frame leads only to the lock that was taken last",
	"sql-exec":            ofPool,
	"sql-transaction":     ofPool,
	"method-expression":   "without optimisation, the functions are called as values",
	"given-to-goroutine":  byGoroutine,
	"given-with-callback": byGoroutine,
	"odd-relaxing":        "the holder changes all the time",
	"odd-cond":            "sync.Cond takes the lock again, in frames of its own",
	"handed over":         "between the two steps of Unlock, nobody knows who will get the lock",
}
