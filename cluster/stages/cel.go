package stages

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
)

// celEnvironment is made when the first expression is compiled: it is costly. The object is self.
var celEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("self", cel.DynType), cel.Variable("now", cel.TimestampType), ext.Strings(),
		// A function would not know whose clock is meant.
		cel.Macros(cel.GlobalMacro("Now", 0, func(f cel.MacroExprFactory, _ ast.Expr, _ []ast.Expr) (ast.Expr, *cel.Error) {
			return f.NewIdent("now"), nil
		})),
		cel.Function("Rand", cel.Overload("rand", nil, cel.DoubleType, cel.FunctionBinding(func(...ref.Val) ref.Val {
			return types.Double(rand.Float64())
		}))),
	)
})

// compileCEL gives what an expression says of an object, its numbers as int64, and nil when it ends with an error.
func compileCEL(text string, now func() time.Time) (expression, error) {
	environment, err := celEnvironment()
	if err != nil {
		return nil, err
	}
	checked, issues := environment.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	program, err := environment.Program(checked)
	if err != nil {
		return nil, err
	}
	return func(o object) any {
		out, _, err := program.Eval(map[string]any{"self": o, "now": now()})
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
	}, nil
}
