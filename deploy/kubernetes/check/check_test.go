// Package check decodes the manifests strictly into the types of Kubernetes, and looks whether they fit together. It is
// a module of its own, so that Foible's needs none of theirs.
package check

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// The test's own program is the kubectl of those that it starts.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "kubectl" {
		os.Exit(kubectl(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// kubectl can kustomize, and keeps what else is asked of it in the directory of its program.
func kubectl(args []string) int {
	if args[0] == "kustomize" {
		text, err := kustomize(args[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		os.Stdout.Write(text)
		return 0
	}
	dir := filepath.Dir(os.Args[0])
	var input []byte
	if slices.Contains(args, "--filename=-") {
		input, _ = io.ReadAll(os.Stdin)
	}
	f, err := os.OpenFile(filepath.Join(dir, "asked"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(f, strings.Join(args, " "))
		err = f.Close()
	}
	if err == nil && input != nil {
		name := "applied"
		if args[0] == "create" {
			name = "created"
		}
		err = os.WriteFile(filepath.Join(dir, name), input, 0o600)
	}
	if said, failed := os.LookupEnv("KUBECTL_SAYS"); failed && args[0] != "get" {
		fmt.Fprintln(os.Stderr, said)
		return 1
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func kustomize(dir string) ([]byte, error) {
	m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	return m.AsYaml()
}

// manifests are decoded ones.
type manifests struct {
	namespaces map[string]bool
	pods       map[string]corev1.PodTemplateSpec
	claims     map[string][]corev1.PersistentVolumeClaim
	services   []*corev1.Service
	budgets    []*policyv1.PodDisruptionBudget
	policies   []*networkingv1.NetworkPolicy
	maps       map[string]*corev1.ConfigMap
	secrets    map[string]*corev1.Secret
	replicas   map[string]*int32
}

// scaledObject is as much of KEDA's as is used.
type scaledObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ScaleTargetRef                                                    struct{ Name string }
		MinReplicaCount, MaxReplicaCount, PollingInterval, CooldownPeriod int32
		Triggers                                                          []struct {
			Type, MetricType string
			Metadata         map[string]string
		}
	}
}

func decode(t *testing.T, text []byte) *manifests {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	strict := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	m := &manifests{
		namespaces: map[string]bool{}, pods: map[string]corev1.PodTemplateSpec{}, claims: map[string][]corev1.PersistentVolumeClaim{},
		maps: map[string]*corev1.ConfigMap{}, secrets: map[string]*corev1.Secret{}, replicas: map[string]*int32{},
	}
	for _, part := range bytes.Split(text, []byte("\n---\n")) {
		if bytes.Contains(part, []byte("kind: ScaledObject")) {
			var o scaledObject
			if err := yaml.UnmarshalStrict(part, &o); err != nil {
				t.Errorf("%v in\n%s", err, part)
			}
			if _, ok := m.pods[o.Spec.ScaleTargetRef.Name]; !ok || m.replicas[o.Spec.ScaleTargetRef.Name] != nil {
				t.Errorf("%s scales %q, which is not there or has a number of replicas of its own", o.Name, o.Spec.ScaleTargetRef.Name)
			}
			continue
		}
		o, _, err := strict.Decode(part, nil, nil)
		if err != nil {
			t.Errorf("%v in\n%s", err, part)
			continue
		}
		if namespace, ok := o.(*corev1.Namespace); ok {
			m.checkNamespace(t, namespace)
			continue
		}
		m.namespaces[o.(metav1.Object).GetNamespace()] = true
		if o.(metav1.Object).GetLabels()["app.kubernetes.io/part-of"] != "foible" {
			t.Errorf("%s has no label part-of, by which it is found", o.(metav1.Object).GetName())
		}
		switch o := o.(type) {
		case *appsv1.Deployment:
			m.pods[o.Name], m.replicas[o.Name] = o.Spec.Template, o.Spec.Replicas
			selects(t, o.Name, o.Spec.Selector.MatchLabels, &o.Spec.Template)
		case *appsv1.StatefulSet:
			m.pods[o.Name], m.replicas[o.Name], m.claims[o.Name] = o.Spec.Template, o.Spec.Replicas, o.Spec.VolumeClaimTemplates
			selects(t, o.Name, o.Spec.Selector.MatchLabels, &o.Spec.Template)
		case *corev1.Service:
			m.services = append(m.services, o)
		case *policyv1.PodDisruptionBudget:
			m.budgets = append(m.budgets, o)
		case *networkingv1.NetworkPolicy:
			m.policies = append(m.policies, o)
		case *corev1.ConfigMap:
			m.maps[o.Name] = o
		case *corev1.Secret:
			m.secrets[o.Name] = o
		default:
			t.Errorf("%T: nothing is known of it here", o)
		}
	}
	return m
}

// checkNamespace looks whether a namespace enforces the pod security standard that the pods keep to.
func (m *manifests) checkNamespace(t *testing.T, namespace *corev1.Namespace) {
	t.Helper()
	if level := namespace.Labels["pod-security.kubernetes.io/enforce"]; level != "restricted" {
		t.Errorf("namespace %s enforces %q", namespace.Name, level)
	}
	m.namespaces[namespace.Name] = true
}

func selects(t *testing.T, name string, selector map[string]string, pod *corev1.PodTemplateSpec) {
	t.Helper()
	if len(selector) == 0 || !labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels)) {
		t.Errorf("%s selects %v, and its pods have %v", name, selector, pod.Labels)
	}
}

// selected are the names of those whose pods a selector selects.
func (m *manifests) selected(selector map[string]string) []string {
	var names []string
	for name, pod := range m.pods {
		if len(selector) > 0 && labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels)) {
			names = append(names, name)
		}
	}
	return names
}

// check looks whether the manifests fit together. The Secrets are those that Foible makes.
func (m *manifests) check(t *testing.T, secrets map[string]*corev1.Secret) {
	t.Helper()
	for name, pod := range m.pods {
		m.checkPod(t, name, &pod, secrets)
	}
	for _, s := range m.services {
		names := m.selected(s.Spec.Selector)
		if len(names) != 1 {
			t.Fatalf("service %s selects the pods of %v", s.Name, names)
		}
		for _, p := range s.Spec.Ports {
			if target := p.TargetPort.String(); !hasPort(m.pods[names[0]], target) && !hasPort(m.pods[names[0]], fmt.Sprint(p.Port)) {
				t.Errorf("service %s leads to port %s, which %s does not have", s.Name, target, names[0])
			}
		}
	}
	for _, b := range m.budgets {
		if names := m.selected(b.Spec.Selector.MatchLabels); len(names) != 1 {
			t.Errorf("budget %s is of the pods of %v", b.Name, names)
		}
	}
	m.checkPolicies(t)
}

// checkPolicies looks whether policies deny everything but what they allow, and what that is.
func (m *manifests) checkPolicies(t *testing.T) {
	t.Helper()
	denied := map[string]bool{}
	allowed := map[string]bool{} // "worker to coordinator:7410"
	short := func(name string) string { return strings.TrimPrefix(name, "foible-") }
	for _, p := range m.policies {
		names := m.selected(p.Spec.PodSelector.MatchLabels)
		if len(p.Spec.Ingress)+len(p.Spec.Egress) == 0 {
			if !slices.Equal(p.Spec.PolicyTypes, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}) {
				t.Errorf("policy %s denies %v", p.Name, p.Spec.PolicyTypes)
			}
			for _, name := range names {
				denied[name] = true
			}
			continue
		}
		if len(names) != 1 {
			t.Fatalf("policy %s is about the pods of %v", p.Name, names)
		}
		for _, rule := range p.Spec.Ingress {
			for _, port := range rule.Ports {
				if !hasPort(m.pods[names[0]], port.Port.String()) {
					t.Errorf("policy %s is about port %s, which %s does not have", p.Name, port.Port, names[0])
				}
				for _, from := range m.peers(t, p.Name, rule.From) {
					allowed[short(from)+" into "+short(names[0])+":"+port.Port.String()] = true
				}
			}
		}
		for _, rule := range p.Spec.Egress {
			for _, port := range rule.Ports {
				for _, to := range m.peers(t, p.Name, rule.To) {
					if to != "all" && !hasPort(m.pods[to], port.Port.String()) {
						t.Errorf("policy %s is about port %s, which %s does not have", p.Name, port.Port, to)
					}
					allowed[short(names[0])+" to "+short(to)+":"+port.Port.String()] = true
				}
			}
		}
	}
	for name := range m.pods {
		if !denied[name] {
			t.Errorf("no policy denies %s what is not allowed", name)
		}
	}
	want := []string{"worker into coordinator:grpc", "worker to coordinator:7410", "worker to all:53", "all into worker:metrics", "all into coordinator:metrics"}
	if _, ok := m.pods["foible-nats"]; ok {
		want = append(want, "coordinator into nats:client", "coordinator to nats:4222", "coordinator to all:53",
			"nats into nats:cluster", "nats to nats:6222", "nats to all:53", "all into nats:monitor")
		if hasPort(m.pods["foible-nats"], "metrics") { // of the exporter
			want = append(want, "all into nats:metrics")
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(allowed)); !slices.Equal(got, want) {
		t.Errorf("policies allow\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// peers are the pods that a rule names; "all" if it names none, or namespaces.
func (m *manifests) peers(t *testing.T, policy string, peers []networkingv1.NetworkPolicyPeer) (names []string) {
	t.Helper()
	if len(peers) == 0 {
		return []string{"all"}
	}
	for _, peer := range peers {
		if peer.PodSelector == nil {
			names = append(names, "all")
			continue
		}
		found := m.selected(peer.PodSelector.MatchLabels)
		if len(found) != 1 || peer.NamespaceSelector != nil {
			t.Errorf("policy %s is about the pods of %v by %v", policy, found, peer.PodSelector.MatchLabels)
		}
		names = append(names, found...)
	}
	return names
}

func hasPort(pod corev1.PodTemplateSpec, port string) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == port || fmt.Sprint(p.ContainerPort) == port })
	})
}

func (m *manifests) checkPod(t *testing.T, name string, pod *corev1.PodTemplateSpec, secrets map[string]*corev1.Secret) {
	t.Helper()
	s := pod.Spec
	if c := s.SecurityContext; c == nil || c.RunAsNonRoot == nil || !*c.RunAsNonRoot || c.RunAsUser == nil || *c.RunAsUser == 0 || c.SeccompProfile == nil {
		t.Errorf("%s: may run as root", name)
	}
	if s.AutomountServiceAccountToken == nil || *s.AutomountServiceAccountToken {
		t.Errorf("%s: has a token of the cluster, which it does not need", name)
	}
	has := map[string]bool{}
	for _, claim := range m.claims[name] {
		has[claim.Name] = true
	}
	for _, v := range s.Volumes {
		has[v.Name] = true
		if v.Secret != nil {
			keys := []string{}
			for _, item := range v.Secret.Items {
				keys = append(keys, item.Key)
			}
			hasKeys(t, name, secrets, v.Secret.SecretName, keys...)
		}
		if v.ConfigMap != nil && m.maps[v.ConfigMap.Name] == nil {
			t.Errorf("%s: there is no ConfigMap %s", name, v.ConfigMap.Name)
		}
	}
	for _, c := range s.Containers {
		x := c.SecurityContext
		if x == nil || x.ReadOnlyRootFilesystem == nil || !*x.ReadOnlyRootFilesystem || x.AllowPrivilegeEscalation == nil || *x.AllowPrivilegeEscalation || x.Capabilities == nil || !slices.Equal(x.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("%s: container %s may do more than it needs", name, c.Name)
		}
		for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if limit := c.Resources.Limits[resource]; limit.IsZero() || limit.Cmp(c.Resources.Requests[resource]) < 0 {
				t.Errorf("%s: container %s asks for %s beyond its limit", name, c.Name, resource)
			}
			if request := c.Resources.Requests[resource]; request.IsZero() {
				t.Errorf("%s: container %s asks for no %s", name, c.Name, resource)
			}
		}
		for _, mount := range c.VolumeMounts {
			if !has[mount.Name] {
				t.Errorf("%s: container %s mounts %q, which is not there", name, c.Name, mount.Name)
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				hasKeys(t, name, secrets, e.ValueFrom.SecretKeyRef.Name, e.ValueFrom.SecretKeyRef.Key)
			}
		}
		if c.Name == "coordinator" || c.Name == "worker" {
			if out, err := command(t, foible, append(slices.Clone(c.Args), "--help")...).CombinedOutput(); err != nil {
				t.Errorf("foible %v: %s", c.Args, out)
			}
		}
		for _, arg := range c.Args { // a worker needs its drain, and 5 s to hand back what is left
			if drain, err := time.ParseDuration(strings.TrimPrefix(arg, "--drain=")); err == nil && drain+10*time.Second > time.Duration(*s.TerminationGracePeriodSeconds)*time.Second {
				t.Errorf("%s: is killed after %d s, and drains for %v", name, *s.TerminationGracePeriodSeconds, drain)
			}
		}
	}
}

func hasKeys(t *testing.T, pod string, secrets map[string]*corev1.Secret, name string, keys ...string) {
	t.Helper()
	secret := secrets[name]
	if secret == nil {
		t.Errorf("%s: there is no Secret %s", pod, name)
		return
	}
	for _, key := range keys {
		if len(secret.Data[key]) == 0 {
			t.Errorf("%s: the Secret %s has no %s", pod, name, key)
		}
	}
}

// patience is how long a program may run. It says nothing about how fast it should be.
const patience = 5 * time.Minute

// command is a program that is killed if it does not end.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, name, args...)
}

// foible is the program, built by the first test.
var foible string

// build builds it, with a kubectl beside it, and returns their directory.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	foible = filepath.Join(dir, "foible")
	cmd := command(t, "go", "build", "-o", foible, ".")
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "kubectl"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs foible with the kubectl of the directory, and returns what it prints, and its error's text.
func run(t *testing.T, dir string, env []string, args ...string) (out, failed string) {
	t.Helper()
	cmd := command(t, foible, args...)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + dir, "HOME=" + dir}, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), stderr.String()
	}
	return stdout.String(), ""
}

// configVolume is the number of the volume with the configuration of a pod.
func configVolume(pod corev1.PodTemplateSpec) int {
	return slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.ConfigMap != nil })
}

func TestManifests(t *testing.T) {
	dir := build(t)
	text, failed := run(t, dir, nil, "cluster", "kubernetes", "render", "--image=registry.example.org:5000/lab/foible:7", "--workers=9",
		"--storage=20Gi", "--storage-class=fast", "--namespace=lab", "--nats", "--secrets")
	if failed != "" {
		t.Fatal(failed)
	}
	rendered := decode(t, []byte(text))
	secrets := rendered.secrets
	rendered.check(t, secrets)
	if len(rendered.namespaces) != 1 || !rendered.namespaces["lab"] {
		t.Errorf("namespaces %v, want lab alone", rendered.namespaces)
	}
	if n := rendered.replicas["foible-worker"]; n == nil || *n != 9 {
		t.Errorf("not 9 workers")
	}
	for _, name := range []string{"foible-worker", "foible-coordinator"} {
		if image := rendered.pods[name].Spec.Containers[0].Image; image != "registry.example.org:5000/lab/foible:7" {
			t.Errorf("%s has image %s", name, image)
		}
	}
	if claims := rendered.claims["foible-nats"]; len(claims) != 1 || claims[0].Spec.Resources.Requests.Storage().String() != "20Gi" || *claims[0].Spec.StorageClassName != "fast" {
		t.Errorf("volumes of NATS: %v", claims)
	}
	for _, overlay := range []string{"base", "nats", "example-autoscaling", "e2e"} {
		t.Run(overlay, func(t *testing.T) {
			text, err := kustomize(filepath.Join("..", overlay))
			if err != nil {
				t.Fatal(err)
			}
			m := decode(t, text)
			m.check(t, secrets)
			if len(m.pods) < 2 {
				t.Errorf("pods %v", m.pods)
			}
		})
	}

	// What servers say to each other and to coordinators is encrypted, with what the Secret has.
	conf := rendered.maps[rendered.pods["foible-nats"].Spec.Volumes[configVolume(rendered.pods["foible-nats"])].ConfigMap.Name].Data["nats.conf"]
	if n := strings.Count(conf, `tls { cert_file: "/tls/tls.crt", key_file: "/tls/tls.key"`); n != 2 {
		t.Errorf("nats.conf has TLS for %d of clients and servers:\n%s", n, conf)
	}
	if args := strings.Join(rendered.pods["foible-coordinator"].Spec.Containers[0].Args, " "); strings.Contains(args, "nats://") || !strings.Contains(args, "--nats=tls://") || !strings.Contains(args, "--nats-ca=") {
		t.Errorf("coordinators are called with %s", args)
	}

	// The servers are the ones that the engine is tested with.
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`nats-server/v2 v(\S+)`).FindSubmatch(mod)
	if image := rendered.pods["foible-nats"].Spec.Containers[0].Image; version == nil || image != "nats:"+string(version[1]) {
		t.Errorf("%s, and go.mod has nats-server %s", image, version[1])
	}

	t.Run("apply", func(t *testing.T) { applies(t, dir, secrets) })
	wrongCommands(t, dir)
	t.Run("no kubectl", func(t *testing.T) {
		if err := os.Remove(filepath.Join(dir, "kubectl")); err != nil {
			t.Fatal(err)
		}
		if _, failed := run(t, dir, nil, "cluster", "kubernetes", "status"); !strings.Contains(failed, "install kubectl") {
			t.Errorf("%q", failed)
		}
	})
}

// applies expects what apply asks of kubectl, and that a second run in the same directory has the same tokens.
func applies(t *testing.T, dir string, secrets map[string]*corev1.Secret) {
	t.Helper()
	if _, failed := run(t, dir, nil, "cluster", "kubernetes", "apply", "--image=foible:1", "--context=there"); failed != "" {
		t.Fatal(failed)
	}
	asked, _ := os.ReadFile(filepath.Join(dir, "asked"))
	want := "get namespace foible --ignore-not-found --output=name --context=there\n" +
		"create --filename=- --context=there\n" +
		"apply --server-side --force-conflicts --filename=- --context=there --namespace=foible\n" +
		"rollout status statefulset/foible-coordinator --timeout=10m0s --context=there --namespace=foible\n"
	if string(asked) != want {
		t.Errorf("asked\n%swant\n%s", asked, want)
	}
	created, _ := os.ReadFile(filepath.Join(dir, "created"))
	if made := decode(t, created); !made.namespaces["foible"] {
		t.Errorf("created %s", created)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "applied"))
	m := decode(t, text)
	m.check(t, m.secrets)
	if !bytes.Equal(m.secrets["foible-worker-token"].Data["worker.token"], secrets["foible-worker-token"].Data["worker.token"]) {
		t.Error("another token, from the same directory")
	}
}

// wrongCommands expects errors that say what to do.
func wrongCommands(t *testing.T, dir string) {
	t.Helper()
	for _, c := range []struct {
		name, said, want string
		args             []string
	}{
		{"forbidden", `Error from server (Forbidden): secrets is forbidden`, "name a namespace where you have it with --namespace", []string{"apply", "--image=foible:1"}},
		{"volume", `The StatefulSet "foible-coordinator" is invalid: spec: Forbidden: updates to statefulset spec for fields other than 'replicas'`, "foible cluster kubernetes delete", []string{"apply", "--image=foible:1"}},
		{"unreachable", "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?", "--context chooses another", []string{"scale", "3"}},
		{"nothing", "", "foible cluster kubernetes apply", []string{"status"}},
		{"image", "", "deploy/Dockerfile", []string{"render"}},
		{"odd image", "", "registry.example.org/foible:1", []string{"render", "--image=a b"}},
		{"workers", "", "whole number", []string{"scale", "many"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, failed := run(t, dir, []string{"KUBECTL_SAYS=" + c.said}, append([]string{"cluster", "kubernetes"}, c.args...)...); !strings.Contains(failed, c.want) {
				t.Errorf("%q, want %q", failed, c.want)
			}
		})
	}
}
