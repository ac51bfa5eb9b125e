import Foundation
import MartletServer
import Testing

/// Proxies between the server and its receivers.
@Suite(.timeLimit(.minutes(1))) struct ProxyTests {
  @Test func `a proxy that the environment names gets no delivery`() async throws {
    let receiver = try Receiver()
    let proxy = try Receiver { _ in .status(502) }
    let folder = try TemporaryFolder()
    let channels = """
      {"webhooks": [{"name": "hook", "url": "\(receiver.url)", "secret": "\(Served.secret)"}],
       "subscriptions": [{"id": "n", "webhook": "hook", "node": "/n"}], "allowedAddresses": ["127.0.0.1"]}
      """
    let address = "http://127.0.0.1:\(proxy.port)"
    let (process, port) = try await Command.serve(
      folder, channels,
      environment: [
        "http_proxy": address, "https_proxy": address, "HTTPS_PROXY": address, "all_proxy": address,
        "ALL_PROXY": address, "no_proxy": "", "NO_PROXY": "",
      ])
    while await Call.send("GET", "/channels/n", port: port).json["state"] != "active" { await Task.yield() }
    _ = await Call.send("PUT", "/n.json", "1", port: port)
    while receiver.requests.isEmpty, proxy.requests.isEmpty { await Task.yield() }
    #expect(receiver.requests.first?.json["value"] == 1)
    #expect(proxy.requests.isEmpty)
    process.terminate()
    process.waitUntilExit()
  }

  @Test func `a configured proxy is asked to connect to the address that was judged`() async throws {
    let receiver = try Receiver()
    let proxy = try Receiver { _ in .status(502) }
    let configuration = Served.configuration(receiver) { configuration in
      configuration.channels?.webhooks[0].url = "http://localhost:\(receiver.port)/hook"
      configuration.channels?.proxy = "http://127.0.0.1:\(proxy.port)"
    }
    try await Served.with(configuration) { server in
      try await Served.subscribe(#"{"id": "n", "webhook": "hook", "node": "/n"}"#, server)
      await Served.put("/n.json", "1", server)
      #expect(await proxy.requests(1)[0].line == "CONNECT 127.0.0.1:\(receiver.port) HTTP/1.1")
      #expect(receiver.requests.isEmpty)
    }
  }

  @Test(arguments: ["", "proxy", "socks5://127.0.0.1:1080", "http://user:word@127.0.0.1:3128"])
  func `a proxy that cannot be used is refused`(text: String) throws {
    let error = #expect(throws: ServerError.self) {
      var configuration = ServerConfiguration(schema: Served.schema)
      configuration.access = .development
      configuration.channels = ChannelConfiguration()
      configuration.channels?.proxy = text
      _ = try GraphQLServer(configuration)
    }
    #expect(error?.description.contains("proxy") == true)
  }
}
