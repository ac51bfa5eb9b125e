import Foundation
import Testing

/// `martlet serve` under a service manager that waits for messages (systemd's `Type=notify`).
@Suite(.timeLimit(.minutes(3))) struct ServiceManagerTests {
  private static let script = #"""
    printf 'type T @model { id: ID! }' > s.graphql
    python3 - NAME <<'END'
    import os, signal, socket, subprocess, sys
    name = sys.argv[1]
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind("\0" + name[1:] if name.startswith("@") else name)
    manager.settimeout(120)
    def message():
        lines = manager.recv(4096).decode().split("\n")
        print(lines[0], lines[1])
        return lines[0]
    server = subprocess.Popen(["martlet", "serve", "s.graphql", "--memory", "--dev", "--port", "0"],
                              env={**os.environ, "NOTIFY_SOCKET": name}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert message() == "READY=1"
        server.send_signal(signal.SIGHUP)
        assert message() == "RELOADING=1" and message() == "READY=1"
        server.send_signal(signal.SIGTERM)
        assert message() == "STOPPING=1"
        assert server.wait(120) == 0
    finally:
        server.kill()
    END
    """#

  @Test(arguments: ["./notify", "@martlet-NUMBER"])
  func `the manager is sent when the server is ready, reloads and stops`(socket: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("manager-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let name = socket.replacingOccurrences(of: "NUMBER", with: UUID().uuidString)
    let run = try await ShellRun.bash(Self.script.replacingOccurrences(of: "NAME", with: name), in: folder)
    #expect(run.status == 0, "\(run.output) \(run.errors)")
    #expect(run.output.contains("READY=1 STATUS=Serving s.graphql on http://127.0.0.1:"))
  }

  @Test func `a manager that does not listen does not keep the server from serving`() async throws {
    let run = try await ShellRun.bash(
      """
      cd "$(mktemp -d)"; printf 'type T @model { id: ID! }' > s.graphql
      NOTIFY_SOCKET=/nowhere/at/all martlet serve s.graphql --memory --dev --port 0 > out 2> err & pid=$!
      for i in $(seq 600); do grep -q Serving out && break; sleep 0.1; done
      grep Serving out; kill $pid; wait $pid
      """)
    #expect(run.status == 0 && run.output.contains("Serving"), "\(run.errors)")
  }
}
