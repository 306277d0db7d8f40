package expression

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// variables of a policy: named expressions, each of which may use those before it.
type variables struct {
	shape    *apiservercel.DeclType // grows with each variable
	compiled map[string]Compiled
}

func newVariables() *variables {
	return &variables{shape: apiservercel.NewObjectType("kubernetes.variables", map[string]*apiservercel.DeclField{}), compiled: map[string]Compiled{}}
}

// Variable compiles a named expression that those after it may use. The compiler must be one with composition.
func (c *Compiler) Variable(name, source string, d Declarations, age Age) Compiled {
	compiled := c.Compile(source, Anything, d, age)
	c.variables.shape.Fields[name] = apiservercel.NewDeclField(name, declType(compiled.output), true, nil, nil)
	c.variables.compiled[name] = compiled
	return compiled
}

// simple are the types that have a declaration of their own.
var simple = map[*cel.Type]*apiservercel.DeclType{
	cel.AnyType: apiservercel.AnyType, cel.BoolType: apiservercel.BoolType, cel.BytesType: apiservercel.BytesType,
	cel.DoubleType: apiservercel.DoubleType, cel.DurationType: apiservercel.DurationType, cel.IntType: apiservercel.IntType,
	cel.NullType: apiservercel.NullType, cel.StringType: apiservercel.StringType, cel.TimestampType: apiservercel.TimestampType,
	cel.UintType: apiservercel.UintType,
}

// declType declares the type that an expression turned out to have.
func declType(t *cel.Type) *apiservercel.DeclType {
	if t == nil {
		return apiservercel.DynType
	}
	if d := simple[t]; d != nil {
		return d
	}
	if !t.HasTrait(traits.ContainerType) || !t.HasTrait(traits.IndexerType) {
		return apiservercel.DynType
	}
	switch p := t.Parameters(); len(p) {
	case 1:
		return apiservercel.NewListType(declType(p[0]), -1)
	case 2:
		return apiservercel.NewMapType(declType(p[0]), declType(p[1]), -1)
	}
	return apiservercel.DynType
}
