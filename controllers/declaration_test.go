package controllers

import "testing"

// Design rule: one writer per field.
func TestNoTwoControllersWriteTheSame(t *testing.T) {
	t.Parallel()
	writers := map[string]string{}
	for _, c := range all {
		if len(c.Watches) == 0 || len(c.Writes) == 0 {
			t.Errorf("%s doesn't say what it watches and writes", c.Name)
		}
		for _, field := range c.Writes {
			if other, taken := writers[field]; taken {
				t.Errorf("both %s and %s write %s", other, c.Name, field)
			}
			writers[field] = c.Name
		}
	}
}
