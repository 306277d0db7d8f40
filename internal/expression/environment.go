package expression

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/mutation"
)

// Names of the variables that expressions may use.
const (
	objectName             = "object"
	oldObjectName          = "oldObject"
	paramsName             = "params"
	requestName            = "request"
	namespaceName          = "namespaceObject"
	authorizerName         = "authorizer"
	resourceAuthorizerName = "authorizer.requestResource"
	variablesName          = "variables"
)

// Declarations say which variables and types an expression may use besides those that all may.
type Declarations struct {
	// Params: the variable "params".
	Params bool
	// Authorizer: the variables "authorizer" and "authorizer.requestResource".
	Authorizer bool
	// Patches: types Object and JSONPatch, for mutations.
	Patches bool
}

// always is the version since which our declarations are there: they are never hidden from old expressions.
var always = version.MajorMinor(1, 0)

// shared environments, by what they declare. Each is made when it is first used.
var shared struct {
	sync.Mutex
	sets map[Declarations]*environment.EnvSet
}

// environmentOf gives the environment with the declarations.
func environmentOf(d Declarations) (*environment.EnvSet, error) {
	shared.Lock()
	defer shared.Unlock()
	if set := shared.sets[d]; set != nil {
		return set, nil
	}
	set, err := makeEnvironment(d)
	if err != nil {
		return nil, fmt.Errorf("environment misconfigured: %w", err)
	}
	if shared.sets == nil {
		shared.sets = map[Declarations]*environment.EnvSet{}
	}
	shared.sets[d] = set
	return set, nil
}

func makeEnvironment(d Declarations) (*environment.EnvSet, error) {
	request, namespace := requestType(), namespaceType()
	declared := []cel.EnvOption{
		cel.Variable(objectName, cel.DynType), cel.Variable(oldObjectName, cel.DynType),
		cel.Variable(namespaceName, namespace.CelType()), cel.Variable(requestName, request.CelType()),
	}
	if d.Params {
		declared = append(declared, cel.Variable(paramsName, cel.DynType))
	}
	if d.Authorizer {
		declared = append(declared, cel.Variable(authorizerName, library.AuthorizerType), cel.Variable(resourceAuthorizerName, library.ResourceCheckType))
	}
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	set, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: always, EnvOptions: declared, DeclTypes: []*apiservercel.DeclType{namespace, request},
	}, environment.StrictCostOpt)
	if err != nil || !d.Patches {
		return set, err
	}
	return set.Extend(environment.VersionedOptions{IntroducedVersion: always, EnvOptions: []cel.EnvOption{
		common.ResolverEnvOption(&mutation.DynamicTypeResolver{}),
		environment.UnversionedLib(library.JSONPatch),
	}})
}
