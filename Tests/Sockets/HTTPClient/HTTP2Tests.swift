import Foundation
import MartletRuntime
import MartletVocabulary
import Testing

@testable import MartletHTTPClient
@testable import MartletLoop
@testable import MartletSockets

/// Needs an HTTP/2 server from outside (Debian's nghttp2-server); without one the suite is skipped.
@Suite struct HTTP2Tests {
  static let server = "/usr/sbin/nghttpd"

  /// A running nghttpd that serves one folder; it is stopped with the test.
  struct Outside {
    let process: Process
    let port: Int

    init(certificates: TestCertificates, folder: URL, port: Int) throws {
      self.port = port
      process = Process()
      process.executableURL = URL(fileURLWithPath: HTTP2Tests.server)
      process.arguments = [
        "-a", "127.0.0.1", "-d", folder.path, "\(port)", certificates.keyFile, certificates.certificateFile,
      ]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
    }
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: server)))
  func `many requests at a time go over HTTP 2`() async throws {
    try await withLoop { loop in
      let certificates = try TestCertificates()
      defer { certificates.remove() }
      try String(repeating: "x", count: 100_000).write(
        to: certificates.folder.appendingPathComponent("file"), atomically: true, encoding: .utf8)
      // Below the range the system takes free ports from, so that no other test listens there.
      let port = 20_000 + Int(ProcessInfo.processInfo.processIdentifier) % 10_000
      let outside = try Outside(certificates: certificates, folder: certificates.folder, port: port)
      // Not SIGTERM: a child inherits that signal ignored from a process that handles it itself.
      defer { kill(outside.process.processIdentifier, SIGKILL) }
      try await untilListening(outside, loop)
      var options = CurlClient.Options()
      options.security.authorityFile = certificates.authorityFile
      options.connectionsPerHost = 1
      let client = CurlClient(options: options)
      let owners = (0..<20).map { _ in CurlClientTests.Owner() }
      let url = "https://localhost:\(port)/file"
      await on(loop) {
        for owner in owners { _ = client.start(HTTPExchangeRequest(url: url), on: loop, handler: owner) }
      }
      for owner in owners {
        let heard = await owner.wait { $0.ended }
        #expect(heard.error == nil)
        #expect(heard.version == 2)
        #expect(heard.status == 200)
        #expect(heard.text.utf8.count == 100_000)
      }
    }
  }

  private func untilListening(_ outside: Outside, _ loop: EpollLoop) async throws {
    for _ in 0..<500 {
      do {
        return try await connect(Peer(), to: outside.port, on: loop)
      } catch {
        await withCheckedContinuation { continuation in
          loop.execute { loop.schedule(at: loop.now + .milliseconds(10)) { continuation.resume() } }
        }
      }
    }
    Issue.record("nghttpd does not listen")
  }
}
