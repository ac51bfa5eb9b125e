import Foundation
import Glibc

/// nginx with HTTP/2 over TLS in front of a receiver, which sees the protocol in a field.
final class HTTP2Proxy {
  /// Debian's package `nginx-light` has it.
  static let nginx = ["/usr/sbin/nginx", "/usr/bin/nginx"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  let port: Int
  let certificate: String
  private let folder: TemporaryFolder
  private let process: Process

  init(to receiver: Int) throws {
    folder = try TemporaryFolder()
    let path = folder.path
    certificate = path + "/certificate.pem"
    try Tool.run([
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
      "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", path + "/key.pem", "-out",
      certificate,
    ])
    // Below the range the system takes free ports from, so that no other test listens there. nginx ends when a port is
    // taken all the same.
    let first = 10_000 + Int(getpid()) % 10_000
    for port in first..<first + 20 {
      try Self.text(path, port, receiver).write(toFile: path + "/nginx.conf", atomically: true, encoding: .utf8)
      let process = Process()
      process.executableURL = URL(fileURLWithPath: Self.nginx ?? "")
      process.arguments = ["-c", path + "/nginx.conf", "-p", path]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      while process.isRunning {
        // nginx writes this file after it has taken the port.
        guard FileManager.default.fileExists(atPath: path + "/pid") else {
          sched_yield()
          continue
        }
        self.port = port
        self.process = process
        return
      }
    }
    throw Tool.Failed(words: [Self.nginx ?? "nginx"])
  }

  private static func text(_ path: String, _ port: Int, _ receiver: Int) -> String {
    """
    daemon off; master_process off; pid \(path)/pid; error_log \(path)/error.log;
    events {}
    http {
      access_log off;
      client_body_temp_path \(path)/body; proxy_temp_path \(path)/proxy; fastcgi_temp_path \(path)/fastcgi;
      uwsgi_temp_path \(path)/uwsgi; scgi_temp_path \(path)/scgi;
      server {
        listen 127.0.0.1:\(port) ssl http2;
        ssl_certificate \(path)/certificate.pem; ssl_certificate_key \(path)/key.pem;
        location / { proxy_pass http://127.0.0.1:\(receiver); proxy_set_header x-protocol $server_protocol; }
      }
    }
    """
  }

  func stop() {
    // Not SIGTERM: a child inherits that signal ignored from a process that handles it itself.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
