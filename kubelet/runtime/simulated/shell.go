package simulated

import (
	"fmt"
	"io"
	"path"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// shell runs commands in a container that has no processes: its annotations say how each ends, or else a few that
// people try are understood.
type shell struct {
	hostname    string
	environment []*runtimeapi.KeyValue
	answer      about
}

// run implements Behaviour.Exec.
func (s shell) run(c Command) int32 {
	output, code := s.answer.text(AnnotationExecOutput), s.answer.text(AnnotationExecCode)
	if output != "" || code != "" {
		ended, _ := readCode(code)
		return say(c.Stdout, output, ended)
	}
	if len(c.Args) == 0 {
		return 0
	}
	switch arguments := c.Args[1:]; path.Base(c.Args[0]) {
	case "echo":
		return say(c.Stdout, strings.Join(arguments, " ")+"\n", 0)
	case "hostname":
		return say(c.Stdout, s.hostname+"\n", 0)
	case "env", "printenv":
		return s.printEnvironment(c.Stdout, arguments)
	case "cat":
		return s.cat(c, arguments)
	case "false":
		return 1
	}
	return 0
}

func (s shell) printEnvironment(out io.Writer, names []string) int32 {
	var text strings.Builder
	for _, variable := range s.environment {
		switch {
		case len(names) == 0:
			fmt.Fprintf(&text, "%s=%s\n", variable.Key, variable.Value)
		case names[0] == variable.Key:
			fmt.Fprintf(&text, "%s\n", variable.Value)
		}
	}
	if len(names) > 0 && text.Len() == 0 {
		return 1
	}
	return say(out, text.String(), 0)
}

// cat shows the one file that there is, or what comes in.
func (s shell) cat(c Command, files []string) int32 {
	switch {
	case len(files) == 0 && c.Stdin != nil:
		if _, err := io.Copy(c.Stdout, c.Stdin); err != nil {
			return 1
		}
		return 0
	case len(files) == 1 && files[0] == "/etc/hostname":
		return say(c.Stdout, s.hostname+"\n", 0)
	}
	return say(c.Stderr, "cat: there are no files in a simulated container\n", 1)
}

// say returns the code, or another when nobody could be told.
func say(out io.Writer, text string, code int32) int32 {
	if _, err := io.WriteString(out, text); err != nil {
		return 1
	}
	return code
}
