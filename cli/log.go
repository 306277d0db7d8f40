package cli

import (
	"io"
	"log/slog"

	"github.com/spf13/cobra"
)

// logFlag adds upstream's flag for the verbosity of logs.
func logFlag(command *cobra.Command, verbosity *int) {
	command.Flags().IntVarP(verbosity, "v", "v", 2, "the verbosity of the log: 4 and more show debug messages, 0 warnings only")
}

// newLogger logs to output as key=value lines. The verbosity is upstream's scale: 0 is for what an operator must
// see, 2 the default, 4 for debugging.
func newLogger(output io.Writer, verbosity int) *slog.Logger {
	level := slog.LevelInfo
	switch {
	case verbosity >= 4:
		level = slog.LevelDebug
	case verbosity <= 0:
		level = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(output, &slog.HandlerOptions{Level: level}))
}
