package stages

import (
	"time"

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
func compileExpression(from *ExpressionFrom, now func() time.Time) (expression, error) {
	switch {
	case from == nil:
		return nil, nil
	case from.CEL != nil:
		return compileCEL(from.CEL.Expression, now)
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
