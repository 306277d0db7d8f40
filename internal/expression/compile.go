package expression

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Types that an expression may have, by what it is for.
var (
	Condition          = []*cel.Type{cel.BoolType}
	Message            = []*cel.Type{cel.StringType}
	AuditValue         = []*cel.Type{cel.StringType, cel.NullType}
	Anything           = []*cel.Type{cel.AnyType, cel.DynType}
	ApplyConfiguration = []*cel.Type{celtypes.NewObjectType("Object")}
	JSONPatch          = []*cel.Type{cel.ListType(celtypes.NewObjectType("JSONPatch"))}
)

// Age of an expression: what is stored already may use what an older server allowed.
type Age = environment.Type

// The ages.
const (
	New    Age = environment.NewExpressions
	Stored Age = environment.StoredExpressions
)

// Compiled is an expression that can be evaluated, or why it can't.
type Compiled struct {
	Source  string
	Err     *apiservercel.Error
	program cel.Program
	output  *cel.Type
}

// Compiler compiles the expressions of one policy or webhook, which may share variables. It is not safe for concurrent use.
type Compiler struct {
	variables *variables // nil: none may be used
	sets      map[Declarations]*environment.EnvSet
}

// NewCompiler makes a compiler. With composition, expressions may use the variables that Variable declares before them.
func NewCompiler(composition bool) *Compiler {
	c := &Compiler{sets: map[Declarations]*environment.EnvSet{}}
	if composition {
		c.variables = newVariables()
	}
	return c
}

// set gives the environment for an expression.
func (c *Compiler) set(d Declarations) (*environment.EnvSet, error) {
	if c.variables == nil {
		return environmentOf(d)
	}
	if set := c.sets[d]; set != nil {
		return set, nil
	}
	base, err := environmentOf(d)
	if err != nil {
		return nil, err
	}
	set, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: always, DeclTypes: []*apiservercel.DeclType{c.variables.shape},
		EnvOptions: []cel.EnvOption{cel.Variable(variablesName, c.variables.shape.CelType())},
	})
	if err != nil {
		return nil, err
	}
	c.sets[d] = set
	return set, nil
}

// Compile compiles an expression that must have one of the types.
func (c *Compiler) Compile(source string, allowed []*cel.Type, d Declarations, age Age) Compiled {
	failed := func(kind apiservercel.ErrorType, text string, cause error) Compiled {
		return Compiled{Source: source, Err: &apiservercel.Error{Type: kind, Detail: text, Cause: cause}}
	}
	set, err := c.set(d)
	if err != nil {
		return failed(apiservercel.ErrorTypeInternal, "compiler initialization failed: "+err.Error(), nil)
	}
	env, err := set.Env(age)
	if err != nil {
		return failed(apiservercel.ErrorTypeInternal, fmt.Sprintf("unexpected error loading CEL environment: %v", err), nil)
	}
	ast, issues := env.Compile(source)
	if issues != nil {
		return failed(apiservercel.ErrorTypeInvalid, "compilation failed: "+issues.String(), apiservercel.NewCompilationError(issues))
	}
	if text := wrongType(ast.OutputType(), allowed); text != "" {
		return failed(apiservercel.ErrorTypeInvalid, text, apiservercel.NewCompilationError(issues))
	}
	program, err := env.Program(ast, cel.InterruptCheckFrequency(checkEvery))
	if err != nil {
		return failed(apiservercel.ErrorTypeInternal, "program instantiation failed: "+err.Error(), nil)
	}
	return Compiled{Source: source, program: program, output: ast.OutputType()}
}

// wrongType says why an expression's type is none of those it may have; empty: it is one.
func wrongType(got *cel.Type, allowed []*cel.Type) string {
	if slices.ContainsFunc(allowed, func(t *cel.Type) bool { return got.IsExactType(t) || cel.AnyType.IsExactType(t) }) {
		return ""
	}
	if len(allowed) == 1 {
		return fmt.Sprintf("must evaluate to %v but got %v", allowed[0].String(), got.String())
	}
	return fmt.Sprintf("must evaluate to one of %v but got %v", allowed, got.String())
}
