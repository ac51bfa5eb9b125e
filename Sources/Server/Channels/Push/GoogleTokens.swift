internal import MartletChannels
internal import MartletJSON
internal import MartletRuntime
internal import MartletSignatures
internal import MartletVocabulary

/// Access tokens of a Google service account: a signed assertion is exchanged for one that is accepted for an hour.
/// Confined to its loop.
final class GoogleTokens {
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  private static let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
  /// Seconds for which an assertion holds, the most that is accepted.
  private static let assertionTime: Int64 = 3_600
  /// Seconds before its end after which a token is no longer used.
  private static let margin: Int64 = 120

  private let service: PushServices.FCM
  private let tools: ChannelTools
  private let surroundings: OutgoingSurroundings
  private var known: (token: String, end: Int64)?
  /// Why the last request failed, and until when none is made, in milliseconds since 1970: every subscription would
  /// make one.
  private var refusal: (error: ChannelError, end: Int64)?
  private var waiting: [(Result<String, ChannelError>) -> Void] = []
  private var fetch: OutgoingFetch?

  init(_ service: PushServices.FCM, _ tools: ChannelTools, _ surroundings: OutgoingSurroundings) {
    self.service = service
    self.tools = tools
    self.surroundings = surroundings
  }

  /// A token was not accepted.
  func forget(_ token: String) {
    if known?.token == token { known = nil }
  }

  /// - Parameter completion: called once, on the loop, before this returns or later.
  func token(_ completion: @escaping (Result<String, ChannelError>) -> Void) {
    let now = tools.now / 1_000
    if let known, known.end - Self.margin > now { return completion(.success(known.token)) }
    if let refusal, refusal.end > tools.now { return completion(.failure(refusal.error)) }
    waiting.append(completion)
    guard fetch == nil else { return }
    guard let assertion = assertion(at: now) else {
      return finish(.failure(ChannelError(.signature, "the assertion for FCM's token could not be signed")))
    }
    var request = HTTPExchangeRequest("POST", url: service.tokens)
    request.headers = [("Content-Type", "application/x-www-form-urlencoded")]
    // An assertion has no characters that a form encodes.
    request.body = Array("grant_type=\(Self.grant)&assertion=\(assertion)".utf8)
    request.totalTime = tools.limits.deliveryTime
    request.connectTime = tools.limits.connectTime
    request.bodyBytes = tools.limits.answerBytes
    fetch = OutgoingFetch(request, surroundings) { [weak self] result in self?.received(result, now) }
  }

  private func assertion(at now: Int64) -> String? {
    var header: JSONObject = ["alg": .string(service.key.algorithm.rawValue), "typ": "JWT"]
    if let keyID = service.keyID { header["kid"] = .string(keyID) }
    let claims: JSONValue = [
      "iss": .string(service.account), "scope": .string(Self.scope), "aud": .string(service.tokens), "iat": .int(now),
      "exp": .int(now + Self.assertionTime),
    ]
    return service.key.token(header: JSONValue.object(header).serialized(), claims: claims.serialized())
  }

  private func received(_ result: Result<OutgoingFetch.Answer, HTTPExchangeError>, _ now: Int64) {
    fetch = nil
    switch result {
    case .failure(let error):
      finish(.failure(ChannelError(.target, "FCM's access token: \(error.code.deliveryReason)")))
    case .success(let answer):
      guard answer.head.status == 200, let json = try? JSONValue(parsing: answer.body),
        let token = json["access_token"]?.string, Self.isToken(token)
      else {
        return finish(
          .failure(ChannelError(.target, "FCM's access token was refused with the status \(answer.head.status)")))
      }
      known = (token, now + max(0, min(json["expires_in"]?.int ?? Self.assertionTime, 86_400)))
      finish(.success(token))
    }
  }

  private static func isToken(_ text: String) -> Bool {
    (1...8_192).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  private func finish(_ result: Result<String, ChannelError>) {
    refusal = nil
    if case .failure(let error) = result {
      refusal = (error, tools.now + tools.limits.firstPause.wholeNanoseconds / 1_000_000)
    }
    let waiting = waiting
    self.waiting = []
    for completion in waiting { completion(result) }
  }
}
