// Package containerlog reads the logs that the container runtime writes, one line a record:
// "2026-11-30T19:32:52.120533822Z stdout F text", with P for a part of a line.
//
// Copy writes the text of a log to a client: from its end or from a time on, with or without times, up to a limit,
// and, when asked to follow, on and on, across rotations, until the container has ended or the client is gone. All
// followers of a kubelet share one inotify instance, of which a machine has few.
//
//	logs := containerlog.New(logger)
//	err := logs.Copy(ctx, path, containerlog.Options{Tail: &lines, Follow: true, Running: running, Stdout: w, Stderr: w})
package containerlog
