package job

import (
	"slices"
	"testing"
	"testing/quick"
)

func TestIndexes(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		completions int
		want        string
		length      int
	}{
		"":            {10, "", 0},
		"0":           {10, "0", 1},
		"0,1":         {10, "0,1", 2},
		"0,1,2":       {10, "0-2", 3},
		"1-3,4,6-9":   {10, "1-4,6-9", 8},
		"1-3,5,7-20":  {10, "1-3,5,7-9", 7},
		"3,12":        {10, "3", 1},
		"x,2,3-y,5":   {10, "2,5", 2},
		"0-4999":      {5000, "0-4999", 5000},
		"0-2,3-4,5-6": {10, "0-6", 7},
	} {
		if set := ParseIndexes(text, c.completions); set.String() != c.want || set.Len() != c.length {
			t.Errorf("%q is %q, %d long", text, set, set.Len())
		}
	}
}

// A set of indexes behaves as a set of numbers does.
func TestIndexesAreASet(t *testing.T) {
	t.Parallel()
	law := func(first, second []uint8, count uint8) bool {
		a, b, both := map[int]bool{}, map[int]bool{}, map[int]bool{}
		var list, other []int
		for _, v := range first {
			a[int(v)], both[int(v)] = true, true
			list = append(list, int(v))
		}
		for _, v := range second {
			b[int(v)], both[int(v)] = true, true
			other = append(other, int(v))
		}
		union := indexSet(list...).Union(indexSet(other...))
		common, missing := 0, []int(nil)
		for i := range 256 {
			if union.Has(i) != both[i] {
				return false
			}
			if a[i] && b[i] {
				common++
			}
			if !both[i] && len(missing) < int(count) {
				missing = append(missing, i)
			}
		}
		return union.Len() == len(both) && indexSet(list...).Common(indexSet(other...)) == common &&
			slices.Equal(union.FirstMissing(int(count), 256), missing) &&
			ParseIndexes(union.String(), 256).String() == union.String()
	}
	if err := quick.Check(law, nil); err != nil {
		t.Error(err)
	}
}
