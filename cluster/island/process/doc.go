// Package process keeps hold of processes across the life of the program that started them: a record in a file
// says which one it was, and a process that merely got the same number later is never mistaken for it.
//
//	record, err := process.Of(pid)
//	err = process.Save("run/server.json", record)
//	record, err = process.Load("run/server.json") // by another program, later
//	held, err := record.Open()                    // nil when it has ended
//	err = held.Signal(unix.SIGTERM)
//	err = held.Wait(ctx)
package process
