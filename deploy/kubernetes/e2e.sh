#!/usr/bin/env bash
# Runs a sweep on a real Kubernetes of one node, kills a worker and the coordinator meanwhile, and compares the results
# byte for byte with those of `foible fit`; then does what docs/cluster.md says of `apply`: a volume, a forwarded port, another
# token, deleted and applied again. It ends what it has started. As root: bash deploy/kubernetes/e2e.sh
#
# It needs Go and python3, and the scripts of ../infra/kubernetes as seen from FOIBLE_DATA (default: ../shared/data).
# These build Kubernetes in FOIBLE_E2E (default: /var/tmp/foible-e2e), which takes up to half an hour the first time.
set -euo pipefail
cd "$(dirname "$0")/../.."
export GOTOOLCHAIN=local CGO_ENABLED=0

fail() { printf 'e2e: %s\n' "$*" >&2; exit 1; }
step() { printf '\n== %s (%d s)\n' "$*" "$SECONDS"; }

infra=$(realpath -m "${FOIBLE_DATA:-../shared/data}/../infra/kubernetes")
[ -x "$infra/cluster-up.sh" ] || fail "no $infra/cluster-up.sh; set FOIBLE_DATA to the directory of the data beside which infra is"
[ "$(id -u)" = 0 ] || fail "containers are started by root only; call it as root"
work=${FOIBLE_E2E:-/var/tmp/foible-e2e}
node_data=/run/foible-e2e # as in e2e/coordinator.yaml
address=10.77.9.1:7410    # as in e2e/worker.yaml
export K8S_BIN=$work/bin K8S_DIR=$work/run K8S_IMG=$work/img KUBECONFIG=$work/run/kubeconfig
[ ! -e "$K8S_DIR" ] || fail "$K8S_DIR is there, so a cluster may be up; end it with K8S_DIR=$K8S_DIR $infra/cluster-down.sh"
[ ! -e /run/netns/kcl ] || fail "the network namespace kcl is there, so another cluster may be up; end that with $infra/cluster-down.sh"
[ ! -e "$node_data" ] || fail "$node_data is there; remove it if no other e2e runs"

step "programs"
mkdir -p "$K8S_BIN" "$K8S_IMG" "$work/pause"
components=()
for c in kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl; do
	[ -x "$K8S_BIN/$c" ] || components+=("$c")
done
if [ ${#components[@]} -gt 0 ] || [ ! -x "$K8S_BIN/etcd" ]; then
	"$infra/build-k8s.sh" "$K8S_BIN" kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl
fi
export PATH=$K8S_BIN:$PATH
go build -trimpath -o "$work/foible" .
foible=$work/foible
printf 'module pause\n\ngo 1.26\n' >"$work/pause/go.mod"
cat >"$work/pause/main.go" <<'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT)
	<-c
}
GO
(cd "$work/pause" && go build -o pause .)
python3 "$infra/mkimg.py" "$work/pause/pause" docker.io/local/pause:1 "$K8S_IMG/pause.tar"
python3 "$infra/mkimg.py" "$foible" docker.io/local/foible:e2e "$K8S_IMG/foible.tar"

out=$(mktemp -d)
inside() { nsenter --net=/run/netns/kcl "$@"; }
kube() { inside kubectl --namespace foible "$@"; }
forward() {
	nsenter --net=/run/netns/kcl kubectl --namespace=applied port-forward service/foible-coordinator 7410 >"$out/forwarded" 2>&1 &
	forwarders=$!
	nsenter --net=/run/netns/kcl kubectl --namespace=applied port-forward statefulset/foible-coordinator 7411 7412 >"$out/forwarded-web" 2>&1 &
	forwarders+=" $!"
	until_taken 20
}
forward_no_more() {
	# shellcheck disable=SC2086 # they are process ids
	[ -z "${forwarders:-}" ] || kill $forwarders 2>/dev/null || true
	forwarders=
}
# page URL TEXT: a page that has come through a forwarded port, and has the text in it.
page() {
	inside python3 -c 'import sys, urllib.request; sys.exit(sys.argv[2] not in urllib.request.urlopen(sys.argv[1], timeout=30).read().decode())' "$1" "$2" || fail "$1 has not the text $2"
}
# until_taken waits, for so many seconds, until a coordinator takes the token.
until_taken() {
	local said
	for _ in $(seq "$1"); do
		said=$(inside "$foible" list 2>&1) && return
		sleep 1
	done
	fail "not within $1 s: $said"
}
ended() {
	local code=$?
	trap - EXIT INT TERM
	if [ $code != 0 ]; then
		step "what there is"
		for n in foible applied; do
			inside kubectl --namespace="$n" get pods,events --output=wide 2>&1 | tail -n 40 || true
			inside kubectl --namespace="$n" logs --all-containers --prefix --tail=15 --selector=app.kubernetes.io/part-of=foible 2>&1 | tail -n 60 || true
		done
	fi
	step "down"
	forward_no_more
	"$infra/cluster-down.sh" || true
	rm -rf "$node_data" "$out"
	[ $code = 0 ] && printf '\ne2e passed in %d s\n' "$SECONDS"
	exit $code
}
trap ended EXIT
trap 'exit 130' INT TERM

step "cluster"
"$infra/cluster-up.sh"
mkdir -p "$node_data/data"
chown 65532:65532 "$node_data/data"
chmod 700 "$node_data/data"

step "manifests, as the API server sees them"
inside kubectl create namespace foible
for more in "" --nats; do
	# shellcheck disable=SC2086 # it may be no flag
	"$foible" cluster kubernetes render --image=docker.io/local/foible:e2e --data="$out/access" --secrets $more >"$out/manifests.yaml"
	kube apply --server-side --dry-run=server --filename="$out/manifests.yaml"
done

step "coordinator and workers"
a=$out/access/access
kube create secret generic foible-access --from-file="$a/ca.crt" --from-file="$a/ca.key" --from-file="$a/tokens.json" --from-file="$a/user.token"
kube create secret generic foible-worker-token --from-file="$a/worker.token"
kube apply --kustomize=deploy/kubernetes/e2e
kube rollout status statefulset/foible-coordinator --timeout=180s
kube rollout status deployment/foible-worker --timeout=180s
inside "$foible" cluster kubernetes status

step "sweep"
export FOIBLE_COORDINATOR=$address FOIBLE_TOKEN_FILE=$out/access
sweep=(--preset published --particles "${E2E_PARTICLES:-1000}")
id=$(inside "$foible" submit "${sweep[@]}")

# field prints one of the sweep's status, as soon as a coordinator says.
field() {
	for _ in $(seq 100); do
		inside "$foible" status "$id" --json 2>/dev/null >"$out/status" && break
		sleep 0.3
	done
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$out/status" "$1"
}
# grow waits until more jobs are recorded than there were; the sweep must not be over.
grow() {
	local before now
	before=$(field jobs_done)
	for _ in $(seq 300); do
		now=$(field jobs_done)
		[ "$now" -gt "$before" ] && break
		sleep 0.3
	done
	[ "$now" -gt "$before" ] || fail "no progress after $before jobs"
	[ "$(field state)" = running ] || fail "the sweep was over before all was killed; set E2E_PARTICLES to more than ${sweep[3]}"
	echo "$now jobs recorded"
}
grow
step "a worker is killed"
kube delete "$(kube get pods --selector=app.kubernetes.io/name=foible-worker --output=name | head -n 1)" --grace-period=0 --force
grow
step "the coordinator is killed"
kube delete pod foible-coordinator-0 --grace-period=0 --force
kube rollout status statefulset/foible-coordinator --timeout=180s
grow
step "a worker is told to leave"
inside "$foible" cluster kubernetes scale 2
timeout 900 nsenter --net=/run/netns/kcl "$foible" watch "$id"
inside "$foible" results "$id" --out "$out/there"
[ "$(kube get pods --selector=app.kubernetes.io/name=foible-worker --output=name | wc -l)" = 2 ] || fail "not 2 workers"

step "the same here"
env -u FOIBLE_COORDINATOR -u FOIBLE_TOKEN_FILE "$foible" fit "${sweep[@]}" --out "$out/here"
for d in here there; do
	sed -i '/^  "created": /d' "$out/$d/manifest.json"
done
diff --recursive --exclude=.foible "$out/here" "$out/there" || fail "results differ"

step "delete"
inside "$foible" cluster kubernetes delete
for _ in $(seq 60); do
	left=$(kube get all --selector=app.kubernetes.io/part-of=foible --output=name)
	[ -z "$left" ] && break
	sleep 1
done
[ -z "$left" ] || fail "not deleted: $left"

step "apply"
mkdir "$node_data/volume"
chown 65532:65532 "$node_data/volume"
chmod 700 "$node_data/volume"
inside kubectl apply --filename=- <<YAML
apiVersion: v1
kind: PersistentVolume
metadata: {name: foible-e2e}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: e2e
  hostPath: {path: $node_data/volume, type: Directory}
YAML
mine=$out/mine
kubernetes() { inside "$foible" cluster kubernetes "$1" --namespace=applied "${@:2}"; }
apply() { kubernetes apply --image=docker.io/local/foible:e2e --storage=1Gi --storage-class=e2e --workers=0 --data="$mine"; }
pod() { inside kubectl --namespace=applied get pod foible-coordinator-0 --output='jsonpath={.metadata.uid} {.status.containerStatuses[0].restartCount}'; }
apply
export FOIBLE_COORDINATOR=127.0.0.1:7410 FOIBLE_TOKEN_FILE=$mine
forward
page http://127.0.0.1:7411/ "Log in"
page http://127.0.0.1:7412/metrics foible_
id=$(inside "$foible" submit "${sweep[@]}")

step "another token"
before=$(pod)
old=$("$foible" token show user --data="$mine")
"$foible" token rotate user --data="$mine" >/dev/null
apply
until_taken 180 # a node looks for other contents of a Secret now and then
if env -u FOIBLE_TOKEN_FILE FOIBLE_TOKEN="$old" nsenter --net=/run/netns/kcl "$foible" list 2>"$out/refused"; then fail "the old token is taken"; fi
cat "$out/refused"
[ "$(pod)" = "$before" ] || fail "the coordinator was started again: $(pod), was $before"

step "deleted and applied again"
forward_no_more
kubernetes delete
apply
forward
inside "$foible" list | tee "$out/list"
grep -q "^$id " "$out/list" || fail "the volume has not kept $id"
forward_no_more
kubernetes delete --volumes
left=$(inside kubectl --namespace=applied get all,persistentvolumeclaims,secrets --output=name)
[ -z "$left" ] || fail "not deleted: $left"
