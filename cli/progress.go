package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/kogge-dev/kogge/cluster/island"
)

// showSteps runs the steps in order and shows each with a tick and the time it took, or a cross. On a terminal the
// running step is shown too.
func showSteps(ctx context.Context, output io.Writer, steps []island.Step) error {
	live := isTerminal(output)
	for _, step := range steps {
		if live {
			fmt.Fprintf(output, " • %s …", step.Title)
		}
		began := time.Now()
		err := step.Run(ctx)
		if live {
			// Back to the line's begin, and erase it.
			fmt.Fprint(output, "\r\x1b[K")
		}
		mark := "✓"
		if err != nil {
			mark = "✗"
		}
		fmt.Fprintf(output, " %s %s (%s)\n", mark, step.Title, rounded(time.Since(began)))
		if err != nil {
			return err
		}
	}
	return nil
}

// rounded keeps about three digits: 12ms, 340ms, 1.25s, 12.3s.
func rounded(took time.Duration) time.Duration {
	switch {
	case took < time.Second:
		return took.Round(time.Millisecond)
	case took < 10*time.Second:
		return took.Round(10 * time.Millisecond)
	default:
		return took.Round(100 * time.Millisecond)
	}
}

func isTerminal(output io.Writer) bool {
	file, ok := output.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
