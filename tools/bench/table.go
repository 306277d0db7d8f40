package main

import (
	"fmt"
	"io"
	"os"
	"slices"
)

// row names what is measured.
type row string

// table collects what came out. Values are seconds, milliseconds, MiB or a rate, as the unit says.
type table struct {
	rows   []row
	units  map[row]string
	values map[row]map[string]float64
}

func (t *table) add(r row, unit, side string, value float64) {
	if t.values == nil {
		t.units, t.values = map[row]string{}, map[row]map[string]float64{}
	}
	if !slices.Contains(t.rows, r) {
		t.rows = append(t.rows, r)
		t.values[r] = map[string]float64{}
	}
	t.units[r] = unit
	t.values[r][side] = value
	fmt.Fprintf(os.Stderr, "%s: %s: %s\n", side, r, written(value, unit))
}

// print writes the table as Markdown. A ratio says how many times better ours is.
func (t *table) print(w io.Writer) error {
	if _, err := fmt.Fprint(w, "| what | genuine | ours | ratio |\n|---|---|---|---|\n"); err != nil {
		return err
	}
	for _, r := range t.rows {
		unit := t.units[r]
		g, hasGenuine := t.values[r]["genuine"]
		o, hasOurs := t.values[r]["ours"]
		genuineText, oursText, ratio := "", "", ""
		if hasGenuine {
			genuineText = written(g, unit)
		}
		if hasOurs {
			oursText = written(o, unit)
		}
		if hasGenuine && hasOurs && g > 0 && o > 0 {
			times := g / o
			if unit == "/s" {
				times = o / g
			}
			ratio = fmt.Sprintf("%.1fx", times)
		}
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s |\n", r, genuineText, oursText, ratio); err != nil {
			return err
		}
	}
	return nil
}

func written(v float64, unit string) string {
	switch unit {
	case "s":
		return fmt.Sprintf("%.2f s", v)
	case "ms":
		return fmt.Sprintf("%.1f ms", v)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}
