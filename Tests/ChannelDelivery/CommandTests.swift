import Foundation
import MartletJSON
import MartletTestSupport
import Testing

/// `martlet serve --channels` and `martlet channels` as processes, and a server that is killed.
@Suite(.timeLimit(.minutes(1))) struct CommandTests {
  @Test func `after kill -9 every event arrives, in order, and the command shows and retries dead letters`()
    async throws
  {
    let receiver = try Receiver { request in request.json["value"] == 4 ? .status(500) : .status(200) }
    let folder = try TemporaryFolder()
    let channels = """
      {"webhooks": [{"name": "hook", "url": "\(receiver.url)", "secret": "\(Served.secret)"}],
       "allowedAddresses": ["127.0.0.1"]}
      """
    var (process, port) = try await Command.serve(folder, channels)
    let made = try await Command.run(
      "channels", "subscribe", "127.0.0.1:\(port)", #"{"id": "n", "webhook": "hook", "node": "/n"}"#)
    #expect(made.code == 0)
    #expect(made.output == "n\n")
    for number in 1...3 { _ = await Call.send("PUT", "/n.json", "\(number)", port: port) }
    _ = await receiver.requests(3)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let before = receiver.requests.count
    (process, port) = try await Command.serve(folder, channels)
    for number in 4...6 { _ = await Call.send("PUT", "/n.json", "\(number)", port: port) }
    while receiver.requests.last?.json["value"] != 6 { await Task.yield() }
    let numbers = receiver.requests.compactMap { $0.json["value"]?.int }
    var seen: Set<Int64> = []
    #expect(numbers.filter { seen.insert($0).inserted } == [1, 2, 3, 4, 5, 6])
    // What was sent again has the id that it had.
    var ids: [Int64: Set<String>] = [:]
    for request in receiver.requests { ids[request.json["value"]?.int ?? 0, default: []].insert(request.id) }
    #expect(ids.values.allSatisfy { $0.count == 1 })
    #expect(receiver.requests.count >= before + 5)
    while true {
      let list = try await Command.run("channels", "list", "127.0.0.1:\(port)")
      #expect(list.code == 0)
      if list.output.contains("dead 1"), list.output.contains("waiting 0") { break }
    }
    let shown = try await Command.run("channels", "show", "127.0.0.1:\(port)", "n", "--json")
    let json = try JSONValue(parsing: shown.output)
    #expect(json["dead"]?[0]?["reason"] == "the receiver answered 500")
    receiver.answer { _ in .status(200) }
    let retried = try await Command.run("channels", "retry", "127.0.0.1:\(port)", "n")
    #expect(retried.output == "1 dead letter will be delivered again.\n")
    while receiver.requests.last?.json["value"] != 4 { await Task.yield() }
    let unknown = try await Command.run("channels", "show", "127.0.0.1:\(port)", "none")
    #expect(unknown.code == 1)
    #expect(unknown.errors.contains("There is no subscription \"none\"."))
    #expect(try await Command.run("channels", "cancel", "127.0.0.1:\(port)", "n").code == 0)
    let misused = try await Command.run("channels", "show", "127.0.0.1:\(port)")
    #expect(misused.code == 64)
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test func `push survives kill -9 in order, and the command shows and retries its dead letters`() async throws {
    let receiver = try PushServed.receiver { request in
      request.pushed["value"] == 4 ? .status(400, body: #"{"error": {"status": "INVALID_ARGUMENT"}}"#) : .status(200)
    }
    let folder = try TemporaryFolder()
    let account = folder.path + "/account.json"
    try PushServed.account(PushKeys.shared(), receiver).write(toFile: account, atomically: true, encoding: .utf8)
    let channels = #"{"fcm": {"serviceAccountFile": "\#(account)", "endpoint": "http://127.0.0.1:\#(receiver.port)"}}"#
    var (process, port) = try await Command.serve(folder, channels)
    let device = #"{"id": "phone", "platform": "fcm", "token": "t"}"#
    #expect(await Call.send("POST", "/channels/devices", device, port: port).status == 201)
    let made = try await Command.run(
      "channels", "subscribe", "127.0.0.1:\(port)", #"{"id": "n", "device": "phone", "node": "/n"}"#)
    #expect(made.output == "n\n")
    for number in 1...3 { _ = await Call.send("PUT", "/n.json", "\(number)", port: port) }
    _ = await receiver.messages(3)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    (process, port) = try await Command.serve(folder, channels)
    for number in 4...6 { _ = await Call.send("PUT", "/n.json", "\(number)", port: port) }
    while receiver.messages.last?.pushed["value"] != 6 { await Task.yield() }
    var seen: Set<Int64> = []
    let numbers = receiver.messages.compactMap { $0.pushed["value"]?.int }
    #expect(numbers.filter { seen.insert($0).inserted } == [1, 2, 3, 4, 5, 6])
    while true {
      let list = try await Command.run("channels", "list", "127.0.0.1:\(port)")
      if list.output.contains("device phone"), list.output.contains("dead 1"), list.output.contains("waiting 0") {
        break
      }
    }
    #expect(try await Command.run("channels", "devices", "127.0.0.1:\(port)").output == "phone  fcm\n")
    receiver.answer { _ in .status(200) }
    #expect(try await Command.run("channels", "retry", "127.0.0.1:\(port)", "n").code == 0)
    while receiver.messages.last?.pushed["value"] != 4 { await Task.yield() }
    process.terminate()
    process.waitUntilExit()
  }
}
