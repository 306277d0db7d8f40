package fieldset

// plain tells whether a text stands in JSON as it is, be it inside of a text that is itself in JSON. Others, which are rare in names,
// are left to the library.
func plain[T ~string | ~[]byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
