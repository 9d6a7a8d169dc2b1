package poll

import (
	"regexp"
	"strconv"
	"strings"

	"planbridge/mapping"
)

// footerLink finds the links of footers: an issue's page with a marker for its
// fragment, and the backslashes that a Markdown writer may have put in.
var footerLink = regexp.MustCompile(`([\w.\\-]+/[\w.\\-]+)/issues/([0-9]{1,9})#([\w.\\-]+)`)

// footer returns the issue that the footer with the given marker names. The
// marker tells the id only, by which GitHub cannot be asked.
func (r *round) footer(text string, m mapping.Marker) (repo string, number int) {
	for _, link := range footerLink.FindAllStringSubmatch(text, -1) {
		if got, ok := r.keys.Parse(strings.ReplaceAll(link[3], `\`, "")); ok && got == m {
			number, _ = strconv.Atoi(link[2]) // digits only, and so few that they fit
			return strings.ReplaceAll(link[1], `\`, ""), number
		}
	}
	return "", 0
}
