package expression

// Budgets of CEL's cost units, as upstream sets them (k8s.io/apiserver/pkg/apis/cel).
const (
	// Budget of all expressions of a policy for one write and one parameter object; about a second.
	Budget int64 = 10_000_000
	// ConditionsBudget of all match conditions of one policy or webhook; about a quarter of a second.
	ConditionsBudget int64 = 2_500_000
	// checkEvery is after how many steps of a loop the end of the request is looked for.
	checkEvery = 100
	// MaxMessage is how long a message from an expression may be, in bytes.
	MaxMessage = 5 * 1024
)
