package stages

import (
	"github.com/google/cel-go/cel"
	"github.com/itchyny/gojq"
)

// query finds values in an object: none when jq would end with an error, and never null.
type query func(object) []any

func compileQuery(expression string) (query, error) {
	parsed, err := gojq.Parse(expression)
	if err != nil {
		return nil, err
	}
	if p, plain := plainPath(parsed); plain {
		return func(o object) []any {
			found, _ := p.find(o, nil)
			return found
		}, nil
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, err
	}
	return func(o object) []any {
		var found []any
		all := code.Run(o)
		for {
			value, more := all.Next()
			if !more {
				return found
			}
			if _, failed := value.(error); failed {
				return nil
			}
			if value != nil {
				found = append(found, value)
			}
		}
	}, nil
}

// expression takes a value from an object; nil: there is none.
type expression func(object) any

// compileExpression gives nil for nil.
func compileExpression(from *ExpressionFrom) (expression, error) {
	switch {
	case from == nil:
		return nil, nil
	case from.CEL != nil:
		program, err := compileCEL(from.CEL.Expression)
		if err != nil {
			return nil, err
		}
		return func(o object) any { return valueOf(program, o) }, nil
	}
	find, err := compileQuery(from.text())
	if err != nil {
		return nil, err
	}
	return func(o object) any {
		if found := find(o); len(found) > 0 {
			return found[0]
		}
		return nil
	}, nil
}

// text is the expression itself.
func (e *ExpressionFrom) text() string {
	switch {
	case e == nil:
		return ""
	case e.CEL != nil:
		return e.CEL.Expression
	case e.JQ != nil:
		return e.JQ.Expression
	}
	return e.ExpressionFrom
}

// valueOf gives what a CEL program says of an object, its numbers as int64; nil when it ends with an error.
func valueOf(program cel.Program, o object) any {
	out, _, err := program.Eval(map[string]any{"self": o})
	if err != nil {
		return nil
	}
	switch value := out.Value().(type) {
	case float64:
		return int64(value)
	case uint64:
		return int64(value)
	default:
		return value
	}
}
