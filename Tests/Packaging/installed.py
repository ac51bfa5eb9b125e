"""A machine in namespaces, with systemd as its first process, on which a package is installed: see `boot`."""
import os, shutil, signal, subprocess, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 60


class NoMachine(Exception):
    """Why there can be none here."""


def libraries(command):
    """What a command loads from folders that no package of the distribution fills."""
    said = subprocess.run(["ldd", command], capture_output=True, text=True, timeout=PATIENCE).stdout
    paths = [line.split()[2] for line in said.splitlines() if "=> /" in line]
    return [path for path in paths if not path.startswith(("/lib/", "/lib64/", "/usr/lib/"))]


class Machine:
    """Boots, and is gone with everything in it when the block ends."""

    def __init__(self, package, command):
        if os.geteuid() != 0:
            raise NoMachine("only root may boot a machine in namespaces")
        for program in ["unshare", "nsenter", "pivot_root"]:
            if not (shutil.which(program) or os.access(f"/usr/sbin/{program}", os.X_OK) or os.access(f"/sbin/{program}", os.X_OK)):
                raise NoMachine(f"{program} is not installed")
        if not os.access("/lib/systemd/systemd", os.X_OK):
            raise NoMachine("systemd is not installed")
        self.arguments = [package, *libraries(command)]

    def __enter__(self):
        self.scratch = tempfile.mkdtemp(prefix="martlet-machine-")
        self.said = open(f"{self.scratch}.log", "w+")
        self.process = subprocess.Popen([f"{HERE}/boot", self.scratch, *self.arguments], stdout=self.said, stderr=subprocess.STDOUT,
                                        stdin=subprocess.DEVNULL)
        try:
            self.wait_until(lambda: self.run("systemctl", "is-active", "alone.target", check=False).stdout == "active\n",
                            "the machine's start")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        os.remove(self.said.name)
        shutil.rmtree(self.scratch, ignore_errors=True)
        # The group is empty once the kernel has ended the machine's processes.
        group = f'groups="$(mktemp -d)" && mount -t cgroup2 none "$groups" && ' \
                f'find "$groups$(sed -n s/^0:://p /proc/self/cgroup)/martlet-{self.process.pid}" -depth -type d -exec rmdir {{}} +; ' \
                'status=$?; umount "$groups"; rmdir "$groups"; exit $status'
        end = time.monotonic() + PATIENCE
        while os.path.isdir("/proc/self") and subprocess.run(
                ["unshare", "--mount", "bash", "-c", group], capture_output=True).returncode and time.monotonic() < end:
            time.sleep(0.1)

    def inside(self):
        """How a command is run on the machine: by way of its first process, the only child of the process that made it."""
        if self.process.poll() is not None:
            self.said.seek(0)
            text = self.said.read().strip()
            if self.process.returncode == 77:
                raise NoMachine(text.split("\n")[-1].removeprefix("boot: "))
            raise AssertionError(f"the machine ended with {self.process.returncode}: {text}")
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
            first = children.read().split()
        if not first:
            raise OSError("not there yet")
        return ["nsenter", "--target", first[0], "--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--root", "--wd",
                "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "SYSTEMD_PAGER="]

    def run(self, *command, check=True, **options):
        result = subprocess.run([*self.inside(), *command], capture_output=True, text=True, timeout=PATIENCE,
                                stdin=subprocess.DEVNULL, **options)
        if check and result.returncode:
            journal = self.run("journalctl", "--no-pager", "--lines=20", "--unit=martlet*", check=False).stdout
            raise AssertionError(f"{' '.join(command)} ended with {result.returncode}:\n{result.stdout}{result.stderr}{journal}")
        return result

    def wait_until(self, body, what):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if body():
                    return
            except OSError:
                pass
            assert time.monotonic() < end, f"not within {PATIENCE} s: {what}"
            time.sleep(0.1)

    def shown(self, unit, name):
        return self.run("systemctl", "show", "--property", name, "--value", unit).stdout.strip()
