package firstminutes_test

import "strings"

// startPods starts the pods of testdata/pods.yaml, without waiting for any.
var startPods = []step{
	{line: "kubectl apply -f conformance/firstminutes/testdata/pods.yaml", check: shows(`pod/crashes created`, `pod/no-program created`)},
}

// lookAtPods checks that each does what its temper is.
var lookAtPods = inNamespace("tempers", []step{
	{line: "kubectl wait pod/prepared pod/configured pod/polite --for=condition=Ready --timeout=60s", check: shows(`pod/prepared condition met`, `pod/polite condition met`)},
	{line: "kubectl get pod prepared", check: shows(`prepared +2/2 +Running`)},
	{line: "kubectl logs prepared; kubectl logs prepared -c first", check: shows(`(?m)^prepared\nbeside\nthe first has run$`)},
	{line: `kubectl exec configured -- sh -c 'cat /settings/colour /password/word /about/labels; stat -c " %a" -L /password/word; env'`,
		check: shows(`^bluesesamemood="calm" 400\n`, `(?m)^COLOUR=blue$`, `(?m)^word=sesame$`, `(?m)^MEMORY=20971520$`, `(?m)^ADDRESS=10\.244\.`)},
	{line: `kubectl patch configmap settings -p '{"data":{"colour":"green"}}'`, after: `kubectl patch secret password -p '{"stringData":{"word":"abracadabra"}}'
		kubectl label pod configured mood=wild --overwrite
		kubectl exec configured -- timeout 90 sh -c 'until grep -q green /settings/colour && grep -q abra /password/word && grep -q wild /about/labels; do sleep 0.1; done; echo all new; env'`,
		check: shows(`all new`, `(?m)^COLOUR=blue$`)},

	{line: until("pod/crashes", "{.status.containerStatuses[0].state.waiting.reason}", "CrashLoopBackOff"), after: "kubectl get pod crashes; kubectl logs crashes --previous; kubectl describe pod crashes",
		check: shows(`crashes +0/1 +CrashLoopBackOff +[1-9]`, `(?m)^about to crash$`, `Exit Code: +7`, `Warning +BackOff .+Back-off restarting failed container main in pod crashes_tempers`)},
	{line: until("pod/greedy", "{.status.phase}", "Failed"), after: "kubectl describe pod greedy", check: shows(`Reason: +OOMKilled`, `Exit Code: +137`)},
	{line: "until kubectl get pod falls-ill -o jsonpath='{.status.containerStatuses[0].restartCount}' | grep -q '[1-9]'; do sleep 0.1; done", after: "kubectl describe pod falls-ill",
		check: shows(`Warning +Unhealthy .+Liveness probe failed: cat: can't open '/missing'`, `Killing .+Container main failed liveness probe, will be restarted`)},
	{line: "kubectl rollout status deployment/bad-image --timeout=60s", after: "kubectl describe pod -l app=bad-image",
		check: shows(`exceeded its progress deadline`, `Warning +Failed .+Failed to pull image "registry.invalid/nothing:1"`, `ErrImagePull|ImagePullBackOff`)},
	{line: "kubectl describe pod too-big", check: shows(`Status: +Pending`, `FailedScheduling .+0/2 nodes are available: 2 Insufficient cpu`)},
	{line: until("pod/lacks", "{.status.containerStatuses[0].state.waiting.reason}", "CreateContainerConfigError"), after: "kubectl describe pod lacks", check: shows(`Error: configmap "nothing" not found`)},
	{line: until("pod/no-program", "{.status.phase}", "Failed"), after: "kubectl describe pod no-program", check: shows(`StartError`, `exec: "/nothing": stat /nothing: no such file or directory`)},

	{line: "kubectl logs -f polite & until kubectl logs polite | grep -q waiting; do sleep 0.1; done; kubectl delete pod polite; wait", check: shows(`(?s)waiting.*hook has run.*asked to end`)},
	{line: "kubectl delete namespace tempers --timeout=100s", after: "kubectl get pods", check: shows(`namespace "tempers" deleted`, `No resources found`)},
})

// until waits for a minute at most until a field of an object has that value.
func until(object, field, value string) string {
	return "kubectl wait " + object + " --for=jsonpath='" + field + "'=" + value + " --timeout=60s"
}

// inNamespace has the lines be about objects of that namespace.
func inNamespace(namespace string, steps []step) []step {
	for i := range steps {
		steps[i].line = strings.ReplaceAll(steps[i].line, "kubectl ", "kubectl -n "+namespace+" ")
		steps[i].after = strings.ReplaceAll(steps[i].after, "kubectl ", "kubectl -n "+namespace+" ")
	}
	return steps
}
