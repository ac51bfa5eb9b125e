import Foundation
import MartletTestSupport
import Testing

/// The example against `martlet serve`, each a process of its own.
@Suite(.timeLimit(.minutes(2))) struct PresenceTests {
  private func withServer(
    _ access: [String] = ["--dev"], _ body: (_ url: String) async throws -> Void
  ) async throws {
    let folder = Programs.root.appendingPathComponent("Examples/Presence")
    let server = try RunningProgram(
      "martlet",
      [
        "serve", folder.appendingPathComponent("schema.graphql").path, "--memory", "--port", "0",
        "--rules", folder.appendingPathComponent("rules.json").path, "--log-level", "error",
      ] + access)
    defer { server.stop() }
    let said = await server.line()
    let url = try #require(
      said.split(separator: " ").last.flatMap { URL(string: String($0)) }, "martlet serve said \"\(said)\"")
    try await body("ws://127.0.0.1:\(try #require(url.port))")
  }

  @Test func `the board follows watchers that come, leave and are lost`() async throws {
    try await withServer { url in
      let board = try RunningProgram("Presence", [url, "board"], holdsInput: true)
      #expect(await board.line() == "No gate is watched.")
      let ada = try RunningProgram("Presence", [url, "watch", "A12", "ada"], holdsInput: true)
      #expect(await ada.line() == "ada watches A12.")
      #expect(await board.line() == "A12: ada")
      let eve = try RunningProgram("Presence", [url, "watch", "B3", "eve", "--grace", "0"])
      // Its input is empty: it leaves as soon as it has come.
      #expect(await eve.line() == "eve watches B3.")
      #expect(await board.line() == "A12: ada | B3: eve")
      #expect(await board.line() == "A12: ada")
      #expect(await eve.end().status == 0)
      let bob = try RunningProgram("Presence", [url, "watch", "A12", "bob", "--grace", "0"], holdsInput: true)
      #expect(await board.line() == "A12: ada, bob")
      bob.terminate()
      #expect(await board.line() == "A12: ada")
      ada.stop()
      #expect(await board.line() == "No gate is watched.")
      board.stop()
    }
  }

  @Test func `rules refuse what is not a watcher, and the program says so`() async throws {
    try await withServer { url in
      let ended = await (try RunningProgram("Presence", [url, "watch", "a-gate-too-long", "ada"])).end()
      #expect(ended.status == 1)
      #expect(ended.errors.contains("denied") && ended.errors.contains("/gates/$gate/.validate"), "\(ended.errors)")
    }
  }

  @Test func `programs with a key watch and follow, and one without is refused`() async throws {
    let (file, key) = try await AccessFiles.made(for: "gates")
    defer { try? FileManager.default.removeItem(atPath: file) }
    try await withServer(["--access", file]) { url in
      let board = try RunningProgram("Presence", [url, "board", "--key", key], holdsInput: true)
      #expect(await board.line() == "No gate is watched.")
      let ada = try RunningProgram("Presence", [url, "watch", "A12", "ada", "--key", key], holdsInput: true)
      #expect(await ada.line() == "ada watches A12.")
      #expect(await board.line() == "A12: ada")
      let eve = await (try RunningProgram("Presence", [url, "watch", "A12", "eve"])).end()
      #expect(eve.status == 1 && eve.output.isEmpty, "\(eve)")
      ada.stop()
      #expect(await board.line() == "No gate is watched.")
      board.stop()
    }
  }
}
