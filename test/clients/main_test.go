package clients

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const (
	// variable switches the tests on.
	variable = "INTERLOCK_CLIENTS"
	// binaryVariable has the program's path for the process in the namespace.
	binaryVariable = "INTERLOCK_CLIENTS_BINARY"
	// isolatedVariable says whether that process is in a namespace.
	isolatedVariable = "INTERLOCK_CLIENTS_ISOLATED"
)

func enabled() bool { return os.Getenv(variable) == "1" }

func TestMain(m *testing.M) {
	if !enabled() || os.Getenv(binaryVariable) != "" {
		os.Exit(m.Run())
	}
	code, err := outside()
	if err != nil {
		fmt.Fprintln(os.Stderr, "test-clients:", err)
		code = 1
	}
	os.Exit(code)
}

// outside builds the program and runs this test again, in a network namespace
// if there can be one: the gateway, the fake providers and the clients are all
// in it, so nothing that a client calls besides is reached.
func outside() (code int, err error) {
	dir, err := os.MkdirTemp("", "interlock-clients-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary := filepath.Join(dir, "interlock")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "../../cmd/interlock")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build: %w\n%s", err, out)
	}
	wrapper, isolated := namespace()
	argv := append(wrapper, os.Args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), binaryVariable+"="+binary, fmt.Sprintf("%s=%t", isolatedVariable, isolated))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	} else if err != nil {
		return 0, err
	}
	return 0, nil
}

// namespace is the command line that runs another one with loopback only; the
// second way is for who is not root. Without either, false.
func namespace() (wrapper []string, ok bool) {
	const up = `ip link set lo up && exec "$0" "$@"`
	for _, flags := range [][]string{{"--net"}, {"--net", "--map-root-user"}} {
		wrapper := append(append([]string{"unshare"}, flags...), "sh", "-c", up)
		if exec.Command(wrapper[0], append(wrapper[1:len(wrapper):len(wrapper)], "true")...).Run() == nil {
			return wrapper, true
		}
	}
	return nil, false
}
