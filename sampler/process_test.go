package sampler

import (
	"strings"
	"testing"
)

// The ids of containers are found in the control groups that the
// common runtimes make.
func TestContainerOf(t *testing.T) {
	const one = "3f5c1f0a2b7e4d8896a1c0ffee00d15ea5edbadc0de5a17e0123456789abcdef"
	other := strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct{ name, groups, want string }{
		{"docker, v2, systemd", "0::/system.slice/docker-" + one + ".scope\n", one},
		{"docker, v2, cgroupfs", "0::/docker/" + one + "\n", one},
		{"docker, v1", "12:cpuset:/docker/" + one + "\n11:name=systemd:/docker/" + one + "\n0::/system.slice/containerd.service\n", one},
		{"v1, the first line has none", "12:misc:/\n4:memory:/docker/" + one + "\n", one},
		{"containerd in a pod", "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2f4a9f0b_11aa_22bb_33cc_0123456789ab.slice/cri-containerd-" + one + ".scope\n", one},
		{"containerd, cgroupfs", "0::/kubepods/besteffort/pod2f4a9f0b-11aa-22bb-33cc-0123456789ab/" + one + "\n", one},
		{"containerd with colons", "0::/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" + one + "\n", one},
		{"cri-o", "0::/kubepods.slice/kubepods-pod1.slice/crio-" + one + ".scope/container\n", one},
		{"podman", "0::/machine.slice/libpod-" + one + ".scope/container\n", one},
		{"systemd in a container", "0::/system.slice/docker-" + one + ".scope/init.scope\n", one},
		{"a container in a container", "0::/docker/" + other + "/docker/" + one + "\n", one},
		{"seen from another container", "0::/../" + one + "\n", one},
		{"its own namespace", "0::/\n", ""},
		{"a service", "0::/system.slice/shop.service\n", ""},
		{"a session", "0::/user.slice/user-1000.slice/session-3.scope\n", ""},
		{"a digit too few", "0::/docker/" + one[1:] + "\n", ""},
		{"a digit too many", "0::/docker/0" + one + "\n", ""},
		{"no hexadecimal digits", "0::/docker/" + strings.Repeat("g", 64) + "\n", ""},
		{"nothing", "", ""},
	} {
		if got := containerOf(c.groups); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
