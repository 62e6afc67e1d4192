package holdertest

// The reasons for which holders are not named.
const (
	bySecondPath  = "the lock is taken on one of two paths that meet"
	byFlag        = "what was tested when the lock was taken may have changed since"
	byGoroutine   = "without optimisation, nothing proves that another goroutine releases the lock"
	byVariables   = "without optimisation, an interface is called by way of variables that nothing connects"
	lookedUpAgain = "nothing in the frame leads to the lock: it is looked up anew to be given back"
)

// Unproven lists the kinds of code whose holders can't be named
// in most samples, with the reason.
var Unproven = map[string]string{
	"transaction":         bySecondPath,
	"rw-view":             bySecondPath,
	"wrapped":             byFlag,
	"wrapped-defer":       byFlag,
	"twice-in-map":        lookedUpAgain,
	"map-looked-up-twice": lookedUpAgain,
	"defer-in-loop":       "the frame leads only to the lock that was taken last",
	"interface":           byVariables,
	"generic-locker":      byVariables,
	"method-expression":   "without optimisation, the functions are called as values",
	"given-to-goroutine":  byGoroutine,
	"given-with-callback": byGoroutine,
	"odd-relaxing":        "the holder changes all the time",
	"handed over":         "between the two steps of Unlock, nobody knows who will get the lock",
}
