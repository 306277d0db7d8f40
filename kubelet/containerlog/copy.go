package containerlog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// stateInterval is how often a follower that hears nothing asks whether the container still runs.
const stateInterval = time.Second

// Options of one Copy.
type Options struct {
	Follow     bool
	Timestamps bool
	// Since leaves out what is older; the zero time leaves out nothing.
	Since time.Time
	// Tail is how many of the last lines are wanted; nil: all.
	Tail *int64
	// Limit is how many bytes are written at most; nil: any number.
	Limit *int64
	// Stdout and Stderr take the two streams; nil for one that is not wanted.
	Stdout, Stderr io.Writer
	// Running tells whether the container runs; a follower ends when it doesn't.
	Running func(ctx context.Context) (bool, error)
}

// Logs reads logs. All calls share its watches.
type Logs struct {
	logger   *slog.Logger
	notifier *notifier
}

// New returns Logs. What can't be read as a log line is told to the logger, and left out.
func New(logger *slog.Logger) *Logs {
	return &Logs{logger: logger, notifier: newNotifier()}
}

var errLimit = errors.New("the limit is reached")

// Copy writes a log as the options say.
func (l *Logs) Copy(ctx context.Context, path string, options Options) (err error) {
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("failed to try resolving symlinks in path %q: %w", path, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("failed to open log file %q: %w", path, err)
	}
	c := &copying{logs: l, path: path, file: file, options: options, left: -1}
	defer func() { err = errors.Join(err, c.file.Close()) }()
	if options.Limit != nil {
		c.left = *options.Limit
	}
	if err := c.seek(); err != nil {
		return err
	}
	err = c.run(ctx)
	if errors.Is(err, errLimit) {
		return nil
	}
	return err
}

// copying is one Copy under way.
type copying struct {
	logs    *Logs
	path    string
	file    *os.File
	reader  *bufio.Reader
	options Options
	// left is how many bytes may still be written; negative for any number.
	left int64
	// partial is the beginning of a line whose end is not in the file yet.
	partial []byte
	// middle: the last record was a part of a line, so that the next continues it.
	middle bool
}

func (c *copying) seek() error {
	if c.options.Tail != nil {
		info, err := c.file.Stat()
		if err != nil {
			return err
		}
		offset, err := tailOffset(c.file, info.Size(), *c.options.Tail)
		if err != nil {
			return fmt.Errorf("failed to tail %d lines of log file %q: %w", *c.options.Tail, c.path, err)
		}
		if _, err := c.file.Seek(offset, io.SeekStart); err != nil {
			return err
		}
	}
	c.reader = bufio.NewReaderSize(c.file, block)
	return nil
}

func (c *copying) run(ctx context.Context) error {
	if !c.options.Follow {
		return c.drain(ctx, true)
	}
	grown, leave, err := c.logs.notifier.watch(filepath.Dir(c.path))
	if err != nil {
		return err
	}
	defer leave()
	timer := time.NewTicker(stateInterval)
	defer timer.Stop()
	for {
		// Asked first: what a container wrote before it ended is in the file by then.
		running, err := c.options.Running(ctx)
		if err != nil {
			return err
		}
		if err := c.drain(ctx, !running); err != nil || !running {
			return err
		}
		if err := c.reopen(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-grown:
			if err := c.whileGrowing(ctx, grown); err != nil {
				return err
			}
		}
	}
}

// whileGrowing copies at once what comes, without asking for the container's state each time.
func (c *copying) whileGrowing(ctx context.Context, grown <-chan struct{}) error {
	for {
		if err := c.drain(ctx, false); err != nil {
			return err
		}
		select {
		case <-grown:
		default:
			return nil
		}
	}
}

// reopen turns to the new file after a rotation, once the old one is read to its end.
func (c *copying) reopen(ctx context.Context) error {
	opened, err := c.file.Stat()
	if err != nil {
		return err
	}
	current, err := os.Stat(c.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && os.SameFile(opened, current) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := c.drain(ctx, true); err != nil {
		return err
	}
	file, err := os.Open(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = c.file.Close()
	c.file, c.reader = file, bufio.NewReaderSize(file, block)
	return err
}

// drain writes what is in the file. final: a last line without a newline is all that there will be of it.
func (c *copying) drain(ctx context.Context, final bool) error {
	for ctx.Err() == nil {
		part, err := c.reader.ReadBytes('\n')
		c.partial = append(c.partial, part...)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("failed to read log file %q: %w", c.path, err)
		}
		if err != nil && (!final || len(c.partial) == 0) {
			return nil
		}
		line := c.partial
		c.partial = nil
		if err := c.write(line); err != nil {
			return err
		}
	}
	return nil
}

func (c *copying) write(line []byte) error {
	r, err := parse(line)
	if err != nil {
		c.logs.logger.Warn("read container log", "path", c.path, "err", err)
		return nil
	}
	if r.time.Before(c.options.Since) {
		return nil
	}
	writer := c.options.Stderr
	if r.stdout {
		writer = c.options.Stdout
	}
	if writer == nil {
		return nil
	}
	text := r.text
	if c.options.Timestamps && !c.middle {
		stamp, _, _ := bytes.Cut(line, space)
		text = append(append(append([]byte(nil), stamp...), ' '), text...)
	}
	c.middle = !bytes.HasSuffix(r.text, []byte("\n"))
	if c.left >= 0 && int64(len(text)) > c.left {
		text = text[:c.left]
	}
	if _, err := writer.Write(text); err != nil {
		return err
	}
	if c.left >= 0 {
		if c.left -= int64(len(text)); c.left == 0 {
			return errLimit
		}
	}
	return nil
}
