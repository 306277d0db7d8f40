package expression

import (
	"errors"

	"github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// Typed is what is known of the types of what an expression asks about.
type Typed struct {
	// Object is the type of object and oldObject, ParamsType that of params; nil: nothing is known.
	Object, ParamsType *apiservercel.DeclType
	// Params: there are parameters.
	Params bool
}

// Check says what is wrong with an expression, seen with the types: fields that are not there, operations that don't fit.
// The text is empty when nothing is.
func Check(source string, variables []admissionv1.Variable, t Typed) (string, error) {
	base, err := t.environment()
	if err != nil {
		return "", err
	}
	v := newVariables()
	set, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: always, DeclTypes: []*apiservercel.DeclType{v.shape},
		EnvOptions: []cel.EnvOption{cel.Variable(variablesName, v.shape.CelType())},
	})
	if err != nil {
		return "", err
	}
	env, err := set.Env(Stored)
	if err != nil {
		return "", err
	}
	for _, variable := range variables {
		output, _ := checked(env, variable.Expression)
		v.shape.Fields[variable.Name] = apiservercel.NewDeclField(variable.Name, declType(output), true, nil, nil)
	}
	_, err = checked(env, source)
	if err != nil {
		return err.Error(), nil
	}
	return "", nil
}

// checked gives the type of an expression, or what is wrong with it.
func checked(env *cel.Env, source string) (*cel.Type, error) {
	ast, issues := env.Compile(source)
	if issues != nil {
		return nil, errors.New(issues.String())
	}
	return ast.OutputType(), nil
}

func (t Typed) environment() (*environment.EnvSet, error) {
	request, namespace := requestType(), namespaceType()
	types := []*apiservercel.DeclType{namespace, request}
	declared := []cel.EnvOption{
		cel.Variable(namespaceName, namespace.CelType()), cel.Variable(requestName, request.CelType()),
		cel.Variable(authorizerName, library.AuthorizerType),
	}
	declare := func(d *apiservercel.DeclType, names ...string) {
		kind := cel.DynType
		if d != nil {
			types, kind = append(types, d), d.CelType()
		}
		for _, n := range names {
			declared = append(declared, cel.Variable(n, kind))
		}
	}
	declare(t.Object, objectName, oldObjectName)
	if t.Params {
		declare(t.ParamsType, paramsName)
	}
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	return base.Extend(environment.VersionedOptions{IntroducedVersion: always, EnvOptions: declared, DeclTypes: types})
}
