import Foundation
import Testing

@testable import MartletCommand

/// Sockets that a service manager opens and hands over.
@Suite(.timeLimit(.minutes(3))) struct SocketActivationTests {
  typealias Row = (variables: [String: String], clients: Int32?, administration: Int32?)

  @Test func `the manager's variables name the sockets, and those for another process are ignored`() throws {
    let rows: [Row] = [
      ([:], nil, nil), (["LISTEN_FDS": "1"], nil, nil), (["LISTEN_FDS": "1", "LISTEN_PID": "8"], nil, nil),
      (["LISTEN_FDS": "0", "LISTEN_PID": "7"], nil, nil), (["LISTEN_FDS": "1", "LISTEN_PID": "7"], 3, nil),
      (["LISTEN_FDS": "1", "LISTEN_PID": "7", "LISTEN_FDNAMES": "admin"], nil, 3),
      (["LISTEN_FDS": "2", "LISTEN_PID": "7", "LISTEN_FDNAMES": "admin:clients"], 4, 3),
      (["LISTEN_FDS": "2", "LISTEN_PID": "7", "LISTEN_FDNAMES": ":admin"], 3, 4),
    ]
    for row in rows {
      let sockets = try ActivatedSockets(row.variables, process: 7)
      #expect(sockets.clients == row.clients && sockets.administration == row.administration, "\(row)")
    }
  }

  @Test func `a number that cannot be read, and two sockets for one purpose, are refused`() {
    for variables in [
      ["LISTEN_FDS": "x"], ["LISTEN_FDS": "-1"], ["LISTEN_FDS": "99999999999"], ["LISTEN_FDS": "65"],
      ["LISTEN_FDS": "2"], ["LISTEN_FDS": "2", "LISTEN_FDNAMES": "admin:admin"],
    ] {
      #expect(throws: ActivatedSockets.Refusal.self) {
        try ActivatedSockets(variables.merging(["LISTEN_PID": "7"]) { $1 }, process: 7)
      }
    }
  }

  /// Defines what the scripts share: a manager that opens sockets, and starts `martlet serve` with them.
  private static let manager = #"""
    import os, socket, subprocess, sys, urllib.request, json

    def opened():
        made = socket.socket()
        made.bind(("127.0.0.1", 0))
        made.listen(16)
        return made

    def start(sockets, names, options):
        # The numbers from 3 on are the manager's to give; the process must know its own number.
        def exec_with():
            copies = [os.dup(each.fileno()) for each in sockets]
            copies = [fcntl_up(each) for each in copies]
            for index, each in enumerate(copies):
                os.dup2(each, 3 + index, inheritable=True)
            os.environ["LISTEN_PID"] = str(os.getpid())
            os.environ["LISTEN_FDS"] = str(len(sockets))
            os.environ["LISTEN_FDNAMES"] = ":".join(names)
        import fcntl
        def fcntl_up(descriptor):
            return fcntl.fcntl(descriptor, fcntl.F_DUPFD, 100)
        program = ["python3", "-c", "import os, sys; os.environ['LISTEN_PID'] = str(os.getpid()); os.execvp(sys.argv[1], sys.argv[1:])"]
        return subprocess.Popen(program + ["martlet", "serve", "s.graphql", "--memory", "--dev", "--log-level", "error"] + options,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, close_fds=False, preexec_fn=exec_with)

    def ask(port, path="/graphql", body=b'{"query":"{ __typename }"}'):
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body, headers={"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=120).read().decode()
    """#

  private func run(_ script: String) async throws -> (status: Int32, output: String, errors: String) {
    let run = try await ShellRun.bash(
      """
      cd "$(mktemp -d)"; printf 'type T @model { id: ID! }' > s.graphql
      cat > manager.py <<'END'
      \(Self.manager)
      END
      cat > script.py <<'END'
      from manager import *
      \(script)
      END
      python3 script.py
      """)
    return (run.status, run.output, run.errors)
  }

  @Test func `a client that connected before the start is served, and again after a restart on the same socket`()
    async throws
  {
    let run = try await run(
      """
      made = opened(); port = made.getsockname()[1]
      for turn in range(2):
          # The connection and its request wait in the socket: no server runs yet.
          early = socket.create_connection(("127.0.0.1", port), timeout=120)
          body = b'{"query":"{ __typename }"}'
          early.sendall(b"POST /graphql HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\nConnection: close\\r\\n"
                        b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
          server = start([made], ["clients"], [])
          try:
              print(server.stdout.readline().strip().replace(str(port), "PORT"))
              assert b"Query" in early.makefile("rb").read()
              assert "Query" in ask(port)
          finally:
              server.terminate()
          assert server.wait(120) == 0, server.stderr.read()
      """)
    #expect(run.status == 0, "\(run.output) \(run.errors)")
    let line = "Serving s.graphql on http://127.0.0.1:PORT/graphql"
    #expect(run.output.split(separator: "\n").filter { $0 == line }.count == 2, "\(run.output)")
  }

  @Test func `a socket named admin serves health and figures, which the other then does not`() async throws {
    let run = try await run(
      """
      made, admin = opened(), opened()
      server = start([admin, made], ["admin", "clients"], [])
      try:
          server.stdout.readline()
          assert "Query" in ask(made.getsockname()[1])
          assert "martlet_" in ask(admin.getsockname()[1], "/metrics", None)
          try:
              ask(made.getsockname()[1], "/metrics", None)
              assert False, "figures are served to clients"
          except urllib.error.HTTPError as error:
              assert error.code == 404, error
      finally:
          server.terminate()
      assert server.wait(120) == 0
      """)
    #expect(run.status == 0, "\(run.output) \(run.errors)")
  }

  @Test func `a socket that does not fit, and an option that says otherwise, end the start with a reason`() async throws
  {
    let run = try await run(
      """
      def refused(sockets, options, status, text):
          server = start(sockets, ["clients"], options)
          said = server.communicate(timeout=120)[1]
          assert server.returncode == status and text in said, (server.returncode, said)
      made = opened()
      refused([made], ["--port", "8080"], 64, "leave --port out")
      refused([made], ["--address", "127.0.0.1"], 64, "leave --address out")
      silent = socket.socket(); silent.bind(("127.0.0.1", 0))
      refused([silent], [], 78, "does not listen")
      local = socket.socket(socket.AF_UNIX); local.bind("local"); local.listen(1)
      refused([local], [], 78, "not a TCP socket")
      refused([open("s.graphql")], [], 78, "descriptor 3")
      """)
    #expect(run.status == 0, "\(run.output) \(run.errors)")
  }
}
