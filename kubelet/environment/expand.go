package environment

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Expand replaces $(NAME) by what lookup gives. A name that lookup doesn't know stays as it is, and $$ is a plain $:
// with A=1, "$(A) $(B) $$(A)" becomes "1 $(B) $(A)".
func Expand(text string, lookup func(name string) (string, bool)) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, closed := strings.Cut(strings.TrimPrefix(rest, "("), ")")
		switch {
		case strings.HasPrefix(rest, "$"):
			out.WriteByte('$')
			text = rest[1:]
		case strings.HasPrefix(rest, "(") && closed:
			if value, known := lookup(name); known {
				out.WriteString(value)
			} else {
				out.WriteString("$(" + name + ")")
			}
			text = after
		default:
			out.WriteByte('$')
			text = rest
		}
	}
}

// Variable is one environment variable.
type Variable struct {
	Name  string
	Value string
}

func lookupIn(variables []Variable) func(string) (string, bool) {
	values := make(map[string]string, len(variables))
	for _, variable := range variables {
		values[variable.Name] = variable.Value
	}
	return func(name string) (string, bool) {
		value, known := values[name]
		return value, known
	}
}

// Command expands a container's command and arguments.
func Command(container *v1.Container, variables []Variable) (command, args []string) {
	lookup := lookupIn(variables)
	for _, text := range container.Command {
		command = append(command, Expand(text, lookup))
	}
	for _, text := range container.Args {
		args = append(args, Expand(text, lookup))
	}
	return command, args
}

// SubPath expands a volume mount's subPathExpr; there, a variable that is unknown or empty is an error.
func SubPath(expression string, variables []Variable) (string, error) {
	lookup := lookupIn(variables)
	var unknown []string
	path := Expand(expression, func(name string) (string, bool) {
		value, _ := lookup(name)
		if value == "" && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
		return value, true
	})
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return "", fmt.Errorf("missing value for %s", strings.Join(unknown, ", "))
	}
	return path, nil
}
