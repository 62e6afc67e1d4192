package tui

// asciiOf has a replacement for each character of the Analyzer that isn't
// ASCII. It is drawn in a locale without the character, such as C.
var asciiOf = map[rune]string{
	'─': "-", '━': "=",
	'▸': ">", '▾': "v", '›': ">", '‹': "<", '▲': "^", '▼': "v",
	'█': "#", '▓': "%", '▒': "+", '░': "-", '·': ".", // heatIcons
	'▇': "@", '▆': "*", '▅': "o", '▄': "=", '▃': ":", '▂': ",", '▁': "_",
	'●': "*", '■': "#", '◆': "*",
	'│': "|", '└': "+", '⊂': "<", '∝': "~",
	'…': "~", '⏎': "^", '±': "~", '×': "x", 'µ': "u", 'Δ': "d",
	'⠋': "|", '⠙': "/", '⠹': "-", '⠸': "\\", '⠼': "|", '⠴': "/", '⠦': "-", '⠧': "\\",
	'⠇': "|", '⠏': "/",
}
