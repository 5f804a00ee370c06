//go:build unix

package harness

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// SlurmStubs writes stubs of Slurm's commands, in which a test says what sbatch does.
func SlurmStubs(t *testing.T, dir, sbatch string, others map[string]string) {
	t.Helper()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	stubs := map[string]string{
		"scontrol": `echo "MaxArraySize            = 1001"`,
		"squeue":   "",
		"scancel":  "",
		"sacctmgr": "echo 'You are not running a supported accounting_storage plugin' >&2; exit 1",
		"sbatch":   sbatch,
	}
	maps.Copy(stubs, others)
	for name, script := range stubs {
		text := fmt.Sprintf("#!/bin/sh\nfor script; do :; done\necho \"%s $*\" >>%s/calls\nn=$(grep -c ^sbatch %[2]s/calls)\n%[3]s\n", name, dir, script)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

// SlurmQueue writes stubs of Slurm's commands that keep a queue in the file "queue", in which nothing begins by itself. sbatch refuses the
// partition "none".
func SlurmQueue(t *testing.T, dir string) {
	queue := filepath.Join(dir, "queue")
	if err := os.WriteFile(queue, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	SlurmStubs(t, dir, `name=; last=
for a; do case "$a" in --job-name=*) name=${a#*=};; --array=*) last=${a#*-0-}; last=${a#--array=0-};;
--test-only) last=x;; --partition=none) echo "sbatch: error: invalid partition specified: none" >&2; exit 1;; esac; done
[ "$last" = x ] && exit
for i in $(seq 0 "$last"); do echo "${n}_$i|$name|PENDING|Priority|"; done >>`+queue+`
echo $n`, map[string]string{
		"squeue": "cat " + queue,
		"scancel": `state=.*
for a; do case "$a" in --state=*) state=${a#*=};;
--name=*) grep -v "|${a#*=}|$state|" ` + queue + ` >` + queue + `.new; mv ` + queue + `.new ` + queue + `;;
*) grep -v "^$a|[^|]*|$state|" ` + queue + ` >` + queue + `.new; mv ` + queue + `.new ` + queue + `;; esac; done; true`,
	})
}
