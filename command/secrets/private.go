package secrets

import (
	"fmt"
	"os"
	"path/filepath"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/core/words"
	"foible.dev/foible/internal/replace"
)

// Flags whose value is a file with a secret, and flags whose value is a directory that has some.
var (
	secretFileFlags = []string{"token-file", "tls-key", "nats-creds", "nats-login", "nats-key"}
	secretDirFlags  = []string{"data", "dir"}
)

// NatsPasswordFile is the file with the password of NATS servers, in a directory of tokens.
const NatsPasswordFile = "nats.password"

// CheckPrivate looks whether others on this machine can read the files with tokens and keys that a command is about to
// use. It warns, or with strict returns an error. Value returns the value of a flag, and "" if there is no such flag.
func CheckPrivate(term *terminal.Terminal, strict bool, value func(flag string) string, warn func(message string)) error {
	var paths []string
	for _, flag := range secretFileFlags {
		path := value(flag)
		if info, err := os.Stat(path); flag == "token-file" && err == nil && info.IsDir() {
			paths = append(paths, secretsOf(path)...)
		} else if path != "" {
			paths = append(paths, path)
		}
	}
	for _, flag := range secretDirFlags {
		if dir := value(flag); dir != "" {
			paths = append(paths, secretsOf(dir)...)
		}
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !othersRead(info) || sheltered(path) {
			continue // who reads it says what is wrong with it
		}
		problem := fmt.Sprintf("others on this machine can read %s (mode %03o)", words.Quoted(path), info.Mode().Perm())
		if strict {
			return fmt.Errorf("%s, which --strict refuses; `chmod 600 %s`, and make new tokens with `foible token rotate` if somebody may have read it", problem, words.Quoted(path))
		}
		warn(problem + "; chmod 600 " + words.Quoted(path))
	}
	return nil
}

// secretsOf are the files with secrets of a directory of a coordinator, or of a sweep under Slurm, or for Kubernetes.
func secretsOf(dir string) []string {
	return []string{
		access.TokenFile(dir, access.Worker), access.TokenFile(dir, access.User), access.KeyFile(dir), filepath.Join(dir, NatsPasswordFile),
	}
}

// sheltered reports whether a directory above a file, which is this user's own, keeps others from reaching it.
func sheltered(path string) bool {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	if path, err = filepath.Abs(path); err != nil {
		return false
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o011 == 0 {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// PrintSecret prints a text with a secret, or writes it to a file that only this user can read.
func PrintSecret(term *terminal.Terminal, text []byte, path string) error {
	if path != "" {
		if err := replace.Content(path, 0o600, text); err != nil {
			return fmt.Errorf("--out %s: %w; name a file in a directory where you can write", words.Quoted(path), cli.Cause(err))
		}
		return nil
	}
	if out, ok := terminal.Underlying(term.Out).(*os.File); ok {
		if info, err := out.Stat(); err == nil && othersRead(info) {
			term.Say("Warning: others on this machine can read the file that this is written to (mode %03o); --out FILE makes one that only you can read.", info.Mode().Perm())
		}
	}
	_, err := term.Out.Write(text)
	return err
}
