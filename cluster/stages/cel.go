package stages

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
)

// celEnvironment is made when the first expression is compiled: it is costly. The object is self.
var celEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("self", cel.DynType), ext.Strings(),
		cel.Function("Now", cel.Overload("now", nil, cel.TimestampType, cel.FunctionBinding(func(...ref.Val) ref.Val {
			return types.Timestamp{Time: time.Now()}
		}))),
		cel.Function("Rand", cel.Overload("rand", nil, cel.DoubleType, cel.FunctionBinding(func(...ref.Val) ref.Val {
			return types.Double(rand.Float64())
		}))),
	)
})

func compileCEL(expression string) (cel.Program, error) {
	environment, err := celEnvironment()
	if err != nil {
		return nil, err
	}
	ast, issues := environment.Compile(expression)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	return environment.Program(ast)
}
