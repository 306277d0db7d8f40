package firstminutes_test

// example starts what the lines below are about: README's example, by itself.
var example = []step{
	{line: "kubectl apply -f manifests/examples/nginx.yaml", after: rolledOut, check: shows(`successfully rolled out`)},
}

// onePod has $pod be a pod of the example.
const onePod = `pod=$(kubectl get pods -l app=nginx -o jsonpath='{.items[0].metadata.name}'); `

// A pod that is on its way out may still be the one that deployment/nginx stands for: a line that depends on which is
// asked repeats itself.

// people is what people do with kubectl, beside README's lines.
var people = []step{
	{line: "kubectl version", check: shows(`Server Version: v1\.37\.2\+kogge`)},
	{line: "kubectl cluster-info", check: shows(`control plane.* is running at .*https://127\.0\.0\.1:`)},
	{line: "kubectl get --raw '/readyz?verbose'", check: shows(`\[\+\]etcd ok`, `readyz check passed`)},
	{line: "kubectl api-resources", check: shows(`deployments +deploy +apps/v1 +true +Deployment`, `pods +po +v1 +true +Pod`)},
	{line: "kubectl explain deployment.spec.replicas", check: shows(`FIELD: replicas <integer>`, `Number of desired pods`)},

	{line: "timeout 2 kubectl logs -f deployment/nginx", check: shows(`kube-probe/1\.37`, `exit status 124`)},
	{line: `script -qec 'kubectl exec -it deployment/nginx -- sh -c "test -t 0 && echo a terminal: \$(tty)"' /dev/null`, check: shows(`a terminal: /dev/pts/`)},
	{line: `echo given | kubectl exec -i deployment/nginx -- cat`, check: shows(`^given\n$`)},
	{line: `kubectl exec deployment/nginx -- sh -c 'exit 3'`, check: shows(`exit code 3`, `exit status 3`)},
	{line: onePod + `cd $SCRATCH && rm -rf sent received back && mkdir -p sent/below && head -c 200000 /dev/urandom > sent/below/file
		kubectl cp sent $pod:/tmp/ && kubectl cp $pod:/tmp/sent received && cmp sent/below/file received/below/file && echo alike`, check: shows(`alike\n$`)},
	{line: onePod + `kubectl describe pod/$pod`, check: shows(`Status: +Running`, `Ready +True`, `Successfully assigned default/nginx-`, `Started.+Container started`)},
	{line: "kubectl describe replicaset -l app=nginx", check: shows(`Controlled By: +Deployment/nginx`, `3 Running / 0 Waiting`)},
	{line: "kubectl describe service nginx", check: shows(`Type: +ClusterIP`, `Endpoints: +10\.244\.\d+\.\d+:80,10\.244\.`)},
	{line: "kubectl describe node $CLUSTER-1", check: shows(`Ready +True .+ KubeletReady`, `PodCIDR: +10\.244\.\d\.0/24`, `Allocated resources`)},
	{line: "kubectl describe namespace default", check: shows(`Status: +Active`)},
	{line: "timeout 20 kubectl get pods -w --output-watch-events > $SCRATCH/watched & " + onePod + `until grep -q ADDED $SCRATCH/watched; do sleep 0.1; done
		kubectl label pod $pod seen=yes; until grep MODIFIED $SCRATCH/watched; do kill -0 $! || break; sleep 0.1; done; kill $!`, check: shows(`pod/nginx-\S+ labeled`, `MODIFIED +nginx-`)},
	{line: "kubectl get events", check: shows(`Normal +Scheduled +pod/nginx-`, `ScalingReplicaSet +deployment/nginx`)},
	{line: "kubectl get deployment,replicaset,pod,service,endpointslice", check: shows(`deployment.apps/nginx +3/3`, `replicaset.apps/nginx-\S+ +3 +3 +3`, `endpointslice.discovery.k8s.io/nginx-\S+ +IPv4 +80`)},

	{line: "KUBE_EDITOR='sed -i s/replicas:.3/replicas:\\ 2/' kubectl edit deployment nginx", after: until("deployment/nginx", "{.status.replicas}", "2") + "; kubectl get deployment nginx", check: shows(`nginx edited`, `nginx +2/2`)},
	{line: "kubectl label deployment nginx tier=front", after: "kubectl get deployment -l tier=front -o name; kubectl label deployment nginx tier=back", check: shows(`nginx labeled`, `deployment.apps/nginx\n`, `--overwrite is false`)},
	{line: "kubectl annotate deployment nginx kubernetes.io/change-cause=mine", after: "kubectl rollout history deployment/nginx", check: shows(`nginx annotated`, `1 +mine`)},
	{line: "kubectl rollout pause deployment/nginx", after: "kubectl set env deployment/nginx COLOUR=blue; kubectl rollout status deployment/nginx --timeout=1s; kubectl get replicaset -l app=nginx -o name | wc -l",
		check: shows(`nginx paused`, `env updated`, `(?m)^1$`)},
	{line: "kubectl rollout resume deployment/nginx", after: rolledOut + "; until kubectl exec deployment/nginx -- sh -c 'echo $COLOUR' | grep blue; do sleep 0.2; done", check: shows(`nginx resumed`, `successfully rolled out`, `(?m)^blue$`)},
	{line: "kubectl rollout restart deployment/nginx", after: rolledOut, check: shows(`nginx restarted`, `successfully rolled out`)},
	{line: "kubectl diff -f manifests/examples/nginx.yaml", check: shows(`(?m)^\+  replicas: 3$`, `exit status 1`)},
	{line: "kubectl apply --server-side --force-conflicts -f manifests/examples/nginx.yaml", after: rolledOut + "; kubectl get deployment nginx", check: shows(`nginx serverside-applied`, `nginx +3/3`)},
	{line: "kubectl diff -f manifests/examples/nginx.yaml", check: silent},
	{line: "kubectl wait deployment/nginx --for=condition=Available --timeout=60s", check: shows(`condition met`)},
	{line: "kubectl patch service nginx -p '{\"spec\":{\"type\":\"NodePort\"}}'", after: fromAPod, check: shows(`service/nginx patched`, `(?s)ClusterIP.+Welcome to nginx.+NodePort.+Welcome to nginx.+NodePort.+Welcome to nginx`)},

	{line: "kubectl run once --image=busybox --restart=Never -- sh -c 'echo said $((6*7))'",
		after: "kubectl wait pod/once --for=jsonpath='{.status.phase}'=Succeeded --timeout=60s; kubectl logs once; kubectl exec once -- true", check: shows(`(?m)^said 42$`, `container not found \("once"\)|cannot exec .+ in a completed pod`)},
	{line: "kubectl delete pod once", check: shows(`pod "once" deleted`)},
	{line: "script -qec 'kubectl run asked --rm -it --image=busybox --restart=Never -- sh -c \"read answer; echo it was \\$answer\"' /dev/null <<< yes", check: shows(`it was yes`, `pod "asked" deleted`)},
	{line: "kubectl --token=$(kubectl create token default) get configmap kube-root-ca.crt", check: shows(`kube-root-ca.crt +1`)},
	{line: "kubectl drain $CLUSTER-2 --force --ignore-daemonsets --timeout=60s; kubectl get pods -l app=nginx -o wide --field-selector spec.nodeName=$CLUSTER-2", after: "kubectl uncordon $CLUSTER-2; " + rolledOut,
		check: shows(`node/minutes-\d+-2 cordoned`, `node/minutes-\d+-2 drained`, `No resources found`, `uncordoned`)},
	{line: "kubectl create namespace spare", after: "kubectl -n spare create configmap left --from-literal=key=value; kubectl delete namespace spare --timeout=60s; kubectl get namespace spare",
		check: shows(`namespace/spare created`, `namespace "spare" deleted`, `namespaces "spare" not found`)},

	{line: "kubectl delete pod nobody", check: shows(`Error from server \(NotFound\): pods "nobody" not found`)},
	{line: "printf 'apiVersion: v1\\nkind: Pod\\nmetadata: {name: wrong}\\nspec: {containers: [{name: c, image: busybox, prots: []}]}' | kubectl apply -f -", check: shows(`unknown field "spec.containers\[0\].prots"`)},
	{line: "printf 'apiVersion: v1\\nkind: Pod\\nmetadata: {name: Wrong}\\nspec: {containers: [{name: c}]}' | kubectl apply -f -", check: shows(`The Pod "Wrong" is invalid`, `metadata.name: Invalid value: "Wrong": a lowercase RFC 1123 subdomain`, `spec.containers\[0\].image: Required value`)},
	{line: "kubectl patch deployment nginx -p '{\"spec\":{\"selector\":{\"matchLabels\":{\"more\":\"x\"}}}}'", check: shows(`spec.selector: Invalid value: .+: field is immutable`)},
	{line: "kubectl delete -f manifests/examples/nginx.yaml", after: "kubectl wait pod -l app=nginx --for=delete --timeout=60s", check: shows(`"nginx" deleted`)},
}

// fromAPod asks the example's Service by each way there is, from one of its pods.
const fromAPod = `port=$(kubectl get service nginx -o jsonpath='{.spec.ports[0].nodePort}')
ask() { until kubectl exec deployment/nginx -- wget -qO- http://$1/; do [ $((tries += 1)) -lt 20 ] || break; done; }
echo ClusterIP; ask $(kubectl get service nginx -o jsonpath='{.spec.clusterIP}')
for node in $(kubectl get nodes -o jsonpath='{.items[*].status.addresses[?(@.type=="InternalIP")].address}'); do echo NodePort; ask $node:$port; done`
