internal import MartletJSON
internal import MartletWire

/// `/signIn`: tokens of the server's own, where the access file has a sign-in. Confined to its loop.
struct SignInEndpoint {
  let transport: LoopTransport
  let calendar: Calendar
  /// Bytes of a request: a custom token and what stands around it.
  let bodyBytes: Int

  var rows: [Endpoint] {
    guard let path = PathPattern("/signIn") else { return [] }
    return [
      Endpoint(
        path, meaning: "tokens of this server", methods: ["POST"], sharing: .configured, countsRequests: true,
        bodyBytes: { [bodyBytes] _ in bodyBytes },
        // Callers without credentials come here to get some.
        admission: { _ in .sameOrigin },
        respond: { [unowned transport, calendar] request, responder in
          Self.answer(request, responder, transport, calendar)
        })
    ]
  }

  private static func answer(
    _ request: HTTPRequest, _ responder: HTTPResponder, _ transport: LoopTransport, _ calendar: Calendar
  ) {
    guard let desk = transport.admission.access.signIn else {
      return send(404, ["error": "The access file in force has no sign-in."], responder)
    }
    guard let json = try? JSONValue(parsing: request.body) else {
      return send(400, ["error": "The body is not JSON."], responder)
    }
    do throws(SignInDesk.Refusal) {
      let answer = try desk.answer(json, at: calendar.sinceEpoch()) { calendar.identifier() }
      send(
        200,
        ["idToken": .string(answer.token), "localId": .string(answer.user), "expiresIn": .string("\(answer.seconds)")],
        responder)
    } catch {
      if let reason = error.reason {
        transport.noteRefusal(
          "A custom token was refused at the sign-in.", reason: reason, isLogged: false, over: request.peer)
      }
      send(error.status, ["error": .string(error.message)], responder)
    }
  }

  private static func send(_ status: Int, _ json: JSONValue, _ responder: HTTPResponder) {
    let headers = HTTPHeaders([("Content-Type", "application/json; charset=utf-8"), ("Cache-Control", "no-store")])
    responder.send(status, headers, body: json.serialized())
  }
}
