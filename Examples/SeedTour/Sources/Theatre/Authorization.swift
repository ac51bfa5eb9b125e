import Martlet

/// A server that lets in only who has a key: by a header field over HTTP, by the payload of `connection_init` over a
/// WebSocket, where no operation has header fields of its own.
///
/// The payload goes with every `connection_init`, reconnections included. A refusal is not tried again for ever: the
/// callback is called once.
enum Authorization: Stop {
  static let title = "A server with keys"

  @MainActor static func visit(_ visit: Visit) async throws {
    let told = visit.told
    let server = try await ServeProcess.guarded()
    for (name, token) in [("no token", nil), ("a wrong token", "So long")] {
      let service = ReviewService(http: server.url(scheme: "http"), socket: server.url, token: token)
      let list = ReviewList(told)
      list.load(service.client)
      try await told.wait(for: "the subscription has failed: unauthorized", times: token == nil ? 1 : 2)
      do {
        try await Review.write(.jedi, 1, by: service.client)
      } catch let error as GraphQLClientError {
        told.tell("\(name): the mutation has failed: \(error.code)")
      }
      service.client.shutDown()
    }

    let service = ReviewService(server)
    let list = ReviewList(told)
    list.load(service.client, episode: .jedi)
    try await server.has(1)
    try await Review.write(.jedi, 5, by: service.client)
    try await told.wait(for: "reloaded: JEDI *****")
    // The server closes the socket, the client dials again: the payload goes with the new connection too.
    service.client.pause()
    try await server.has(0)
    try await Review.write(.jedi, 4, by: service.client)
    service.client.resume()
    try await told.wait(for: "reloaded: JEDI ***** | JEDI ****")
    list.cancel()

    try await changed(service, server, told)
    service.client.shutDown()
    await server.stop()
  }

  /// Another payload in place, for the next connection.
  @MainActor private static func changed(
    _ service: ReviewService, _ server: ServeProcess, _ told: Transcript
  ) async throws {
    service.webSocketTransport.updateConnectingPayload(["authToken": "forgotten"], reconnectIfConnected: true)
    let list = ReviewList(told)
    list.load(service.client)
    try await told.wait(for: "the subscription has failed: unauthorized", times: 3)
    service.webSocketTransport.updateConnectingPayload(["authToken": .string(server.key ?? "")])
    list.load(service.client)
    try await server.has(1)
    try await Review.write(.newhope, 3, by: service.client)
    try await told.wait(for: "reloaded: NEWHOPE ***")
  }
}
