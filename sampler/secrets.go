package sampler

import (
	"regexp"
	"slices"
	"strings"
)

// leftOut stands for a value that is not shown.
const leftOut = "***"

// WithoutSecrets returns a command line without secrets. It
// removes the values of flags and variables with a name like a
// secret's, and passwords in URLs. It leaves out too much rather
// than too little. A secret under a name such as -p is not
// recognised.
func WithoutSecrets(command []string) []string {
	clean := make([]string, len(command))
	after := false // the word before is a flag whose value may be this word
	for i, word := range command {
		named, flag := secretFlag(word)
		switch {
		case i == 0:
			clean[i] = word
		case after && !named && !isFlag(word):
			clean[i], after = leftOut, false
		default:
			clean[i], after = cleanWord(word), named && flag
		}
	}
	return clean
}

// secretFlag reports whether a word begins with a name like a
// secret's, and whether it is a flag without a value.
func secretFlag(word string) (named, bare bool) {
	name, _, valued := strings.Cut(word, "=")
	dashed := strings.HasPrefix(name, "-")
	return (dashed || valued) && soleName.MatchString(name) && namesSecret(name), dashed && !valued
}

// longestFlag is the length above which a word with one dash is
// a value: some secrets begin with a dash.
const longestFlag = 20

func isFlag(word string) bool {
	return strings.HasPrefix(word, "--") || strings.HasPrefix(word, "-") &&
		(len(word) <= longestFlag || strings.Contains(word, "="))
}

var (
	soleName = regexp.MustCompile(`^-{0,2}[A-Za-z_][A-Za-z0-9_.-]*$`)

	// Within a word: the command of a shell, the text of a
	// header, a list of settings, JSON.
	innerFlag  = regexp.MustCompile(`(--?[A-Za-z][A-Za-z0-9_.-]*)(\s+)([^\s-]\S*)`)
	innerValue = regexp.MustCompile(
		`([A-Za-z_][A-Za-z0-9_.-]*)(["']?\s*[=:]\s*)("[^"]*"?|'[^']*'?|[^\s&"']+)`)
	header = regexp.MustCompile(
		`(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]*(?:key|token|secret|auth)[a-z-]*)(\s*:\s*)[^"']+`)
	scheme     = regexp.MustCompile(`(?i)\b(bearer|basic)(\s+)\S+`)
	userinfo   = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*):[^\s/@]*(?:@[^\s/@]*)*@`)
	tokenUser  = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/:@]{20,}@`)
	networkDSN = regexp.MustCompile(`([^\s/:@=]+):[^\s]*@([a-z0-9]+\()`) // user:password@tcp(host)
)

// cleanWord returns a word without the secrets in it.
func cleanWord(word string) string {
	if name, _, valued := strings.Cut(word, "="); valued && soleName.MatchString(name) &&
		namesSecret(name) {
		return name + "=" + leftOut
	}
	word = userinfo.ReplaceAllString(word, "$1:"+leftOut+"@")
	word = tokenUser.ReplaceAllString(word, "${1}"+leftOut+"@")
	word = networkDSN.ReplaceAllString(word, "$1:"+leftOut+"@$2")
	word = header.ReplaceAllString(word, "$1$2"+leftOut)
	word = scheme.ReplaceAllString(word, "$1$2"+leftOut)
	for _, inner := range []*regexp.Regexp{innerFlag, innerValue} {
		word = inner.ReplaceAllStringFunc(word, func(found string) string {
			parts := inner.FindStringSubmatch(found)
			if namesSecret(parts[1]) {
				return parts[1] + parts[2] + leftOut
			}
			return found
		})
	}
	return word
}

var (
	// Parts of names, whatever is around them: DBPASSWORD, authtoken.
	secretPart = regexp.MustCompile(
		`(?i)passw|passphrase|secret|token|credential|api[-_.]?key|access[-_.]?key|private[-_.]?key|sig(nature|ning)`)
	// Words of names.
	secretWord = regexp.MustCompile(
		`(?i)^(pass|pwd|pw|auth|authorization|bearer|cookie|cookies|jwt|key|keys|pat|pin|otp|salt|sas|dsn|psk)$`)
	// Last words of names with values that are no secrets, but
	// say where a secret is.
	placeWord = regexp.MustCompile(
		`(?i)^(file|files|path|dir|folder|url|uri|ttl|timeout|length|size|type|name)$`)
	nameWord = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)
)

// namesSecret reports whether the name of a flag or variable
// looks like a secret's.
func namesSecret(name string) bool {
	words := nameWord.FindAllString(name, -1)
	if len(words) == 0 || len(words) > 1 && placeWord.MatchString(words[len(words)-1]) {
		return false
	}
	return secretPart.MatchString(name) || slices.ContainsFunc(words, secretWord.MatchString)
}
