package apiextensions

import (
	"cmp"
	"errors"
	"math"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// unbounded is a count without a limit.
const unbounded = math.MaxUint64

// celContext is what rules at a place of a schema need to know: the types there, and how often the place can occur.
type celContext struct {
	schema *schemaProps
	parent *celContext
	// fromParent takes the types of the place out of its parent's: much cheaper than to make them.
	fromParent func(*typeInfo) *typeInfo
	// inRules: rules stand here or above, so that types are wanted.
	inRules bool
	// most is how often the place can occur in one object.
	most  uint64
	total *totalCost

	info    *typeInfo
	infoErr error
}

// typeInfo is the type of a place, as schema and as CEL's declaration.
type typeInfo struct {
	schema *structuralschema.Structural
	decl   *apiservercel.DeclType
}

func rootContext(s *schemaProps) *celContext {
	return &celContext{schema: s, inRules: len(s.XValidations) > 0, most: 1, total: &totalCost{}}
}

func (c *celContext) typeInfo() (*typeInfo, error) {
	if c == nil || !c.inRules {
		return nil, nil
	}
	if c.info != nil || c.infoErr != nil {
		return c.info, c.infoErr
	}
	if c.parent != nil {
		above, err := c.parent.typeInfo()
		if err != nil {
			c.infoErr = err
			return nil, err
		}
		if above != nil {
			c.info = c.fromParent(above)
		}
	}
	if c.info == nil {
		c.info, c.infoErr = makeTypeInfo(c.schema, c.parent == nil || c.schema.XEmbeddedResource)
	}
	return c.info, c.infoErr
}

func makeTypeInfo(s *schemaProps, isResource bool) (*typeInfo, error) {
	ss, err := structuralschema.NewStructural(s)
	if err != nil {
		return nil, err
	}
	decl := model.SchemaDeclType(ss, isResource)
	if decl == nil {
		return nil, errors.New("unable to convert structural schema to CEL declarations")
	}
	return &typeInfo{ss, decl}, nil
}

func (c *celContext) property(s *schemaProps, name string) *celContext {
	return c.child(s, func(t *typeInfo) *typeInfo {
		escaped, ok := apiservercel.Escape(name)
		if !ok || t.schema.Properties == nil {
			return nil
		}
		decl, ok := t.decl.Fields[escaped]
		if !ok {
			return nil
		}
		below := t.schema.Properties[name]
		return &typeInfo{&below, decl.Type}
	})
}

func (c *celContext) values(s *schemaProps) *celContext {
	return c.child(s, func(t *typeInfo) *typeInfo {
		if t.schema.AdditionalProperties == nil {
			return nil
		}
		return &typeInfo{t.schema.AdditionalProperties.Structural, t.decl.ElemType}
	})
}

func (c *celContext) items(s *schemaProps) *celContext {
	return c.child(s, func(t *typeInfo) *typeInfo {
		if t.schema.Items == nil {
			return nil
		}
		return &typeInfo{t.schema.Items, t.decl.ElemType}
	})
}

func (c *celContext) child(s *schemaProps, from func(*typeInfo) *typeInfo) *celContext {
	if c == nil {
		return nil
	}
	out := &celContext{schema: s, parent: c, fromParent: from, inRules: c.inRules || (s != nil && len(s.XValidations) > 0), total: c.total, most: unbounded}
	if c.schema == nil || c.most == unbounded {
		return out
	}
	if each := mostBelow(c.schema); each != unbounded {
		out.most = times(c.most, each)
	}
	return out
}

// mostBelow is by how much a place multiplies those below it.
func mostBelow(s *schemaProps) uint64 {
	limit := func(n *int64) uint64 {
		if n == nil {
			return unbounded
		}
		return uint64(max(*n, 0))
	}
	switch {
	case s.Type == "object" && s.AdditionalProperties != nil:
		return limit(s.MaxProperties)
	case s.Type == "array":
		return limit(s.MaxItems)
	}
	return 1
}

// times multiplies, up to the largest number.
func times(cost, count uint64) uint64 {
	if cost != 0 && math.MaxUint64/cost < count {
		return math.MaxUint64
	}
	return cost * count
}

// cost of a rule for all places where it applies.
func (c *celContext) cost(r cel.CompilationResult) uint64 {
	if c.most != unbounded {
		return times(r.MaxCost, c.most)
	}
	return times(r.MaxCost, r.MaxCardinality)
}

// totalCost adds up what the rules of a schema cost.
type totalCost struct {
	sum uint64
	// top are the costliest rules that make up at least a hundredth of what is allowed.
	top []ruleCost
}

type ruleCost struct {
	path *field.Path
	cost uint64
}

// mostNamed is how many of the costliest rules are named.
const mostNamed = 4

func (t *totalCost) observe(path *field.Path, cost uint64) {
	t.sum += min(cost, math.MaxUint64-t.sum)
	if cost < schemaCost/100 {
		return
	}
	t.top = append(t.top, ruleCost{path, cost})
	slices.SortStableFunc(t.top, func(a, b ruleCost) int { return cmp.Compare(b.cost, a.cost) })
	t.top = t.top[:min(len(t.top), mostNamed)]
}

// tooCostly refuses a schema whose rules cost too much together.
func (c *celContext) tooCostly(path *field.Path) field.ErrorList {
	if c == nil || c.total.sum <= schemaCost {
		return nil
	}
	var errs field.ErrorList
	for _, r := range c.total.top {
		errs = append(errs, field.Forbidden(r.path, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"))
	}
	return append(errs, field.Forbidden(path, costText("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", c.total.sum, schemaCost)))
}
