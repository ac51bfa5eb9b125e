import MartletCommandLine
import MartletRuntime
import MartletSignatures
import MartletTokens

/// `martlet access token check`: what a server would decide about tokens, and why.
enum TokenCheck {
  static let options: [CommandSpecification.Option] = [
    .init(name: "keys", value: "FILE", help: "token check: a JSON Web Key Set, or a single key"),
    .init(
      name: "algorithms", value: "NAMES",
      help:
        "token check: the accepted algorithms, such as RS256,ES256; a key without \"alg\" is for the first that fits"),
    .init(name: "issuer", value: "TEXT", help: "token check: the issuer that \"iss\" must name"),
    .init(name: "audience", value: "TEXT", help: "token check: an audience that \"aud\" may name", repeats: true),
    .init(name: "require", value: "CLAIM", help: "token check: a claim that must be there", repeats: true),
    .init(name: "at", value: "TIME", help: "token check: the time, as seconds since 1970 or 2030-01-01T00:00:00Z"),
    .init(name: "skew", value: "TIME", help: "token check: how far clocks may differ (60s)"),
    .init(name: "max-age", value: "TIME", help: "token check: how long after \"iat\" a token is accepted"),
  ]

  static func run(_ token: String, _ arguments: ParsedArguments) throws -> ExitCode {
    try AccessCommand.refuse(KeyActions.options + ExplainAction.options, in: arguments, of: "token check")
    let policy = try policy(arguments)
    let now = try now(arguments)
    let keys = try keys(arguments, algorithms: policy.algorithms)
    // Claims are asked for as soon as an option names one; without, any signed payload will do.
    let needsClaims = ["issuer", "audience", "require", "max-age"].contains(where: arguments.has)
    var code = ExitCode.success
    for line in try lines(token) {
      do {
        let verified = try TokenChecker(policy).verify(Array(line.utf8), with: keys)
        Console.out("accepted: " + (try accepted(verified, policy, at: now, needsClaims: needsClaims)))
      } catch let refusal as TokenRefusal {
        Console.out("refused: \(refusal.code): \(refusal.description)")
        code = .failure
      }
    }
    return code
  }

  /// Says what an accepted token is; throws when its claims refuse it.
  private static func accepted(
    _ verified: TokenChecker.Verified, _ policy: TokenPolicy, at now: Duration, needsClaims: Bool
  ) throws -> String {
    let signed = "signed with \(verified.key.algorithm.rawValue)"
    // What begins as an object is meant as claims, and must be right.
    guard needsClaims || verified.token.payload.first(where: { !isSpace($0) }) == UInt8(ascii: "{") else {
      return "no claims (the payload is not a JSON object, so that a server refuses it), \(signed)"
    }
    let claims = try TokenClaims(verified.token.payload, depth: policy.limits.depth)
    try policy.check(claims, at: now)
    let subject = claims.subject.map { "subject \(TokenRefusal.quoted($0))" } ?? "no subject"
    let end = claims.expires.map { "expires \(Moment.text($0))" } ?? "never expires"
    return "\(subject), \(end), \(signed)"
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  private static func policy(_ arguments: ParsedArguments) throws -> TokenPolicy {
    var policy = TokenPolicy(required: arguments.all("require"))
    policy.issuer = arguments.value("issuer")
    if arguments.has("audience") { policy.audiences = arguments.all("audience") }
    if let skew = try arguments.duration("skew") { policy.skew = skew }
    policy.maximumAge = try arguments.duration("max-age")
    if let names = arguments.value("algorithms") {
      policy.algorithms = try names.split(separator: ",", omittingEmptySubsequences: false).map { name in
        guard let algorithm = TokenAlgorithm(rawValue: String(name)) else {
          let known = TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
          throw UsageError("--algorithms names '\(name)', which is not one of \(known).")
        }
        return algorithm
      }
    }
    return policy
  }

  private static func now(_ arguments: ParsedArguments) throws -> Duration {
    guard let text = arguments.value("at") else { return WallClock.sinceEpoch() }
    guard let time = Moment.read(text) else {
      throw UsageError("--at must be seconds since 1970 or a time such as 2030-01-01T00:00:00Z, not '\(text)'.")
    }
    return time
  }

  private static func keys(_ arguments: ParsedArguments, algorithms: [TokenAlgorithm]) throws -> VerificationKeys {
    guard let file = arguments.value("keys") else {
      Console.error("No key set is given (--keys FILE), so that no signature can be checked.")
      return VerificationKeys(TokenKeySet(keys: []), with: SystemVerifier())
    }
    let set: TokenKeySet
    do {
      set = try TokenKeySet(Array(try NamedFile.text(file).utf8), algorithms: algorithms, origin: .file)
    } catch let error as TokenKeySet.Malformed {
      throw CommandFailure(.badData, "\(file): \(error.description).")
    }
    let keys = VerificationKeys(set, with: SystemVerifier())
    for refused in keys.refused {
      let name = refused.id.map { " (\(TokenRefusal.quoted($0)))" } ?? ""
      Console.error("\(file): keys[\(refused.position)]\(name) is not used: \(refused.reason.description).")
    }
    return keys
  }

  /// The tokens as they are: white space around one is part of it, and refused. An empty line is an empty token.
  private static func lines(_ token: String) throws -> [String] {
    guard token == "-" else { return [token] }
    var lines = try NamedFile.text("-").utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty ?? false { lines.removeLast() }
    return lines.map { String(Substring($0)) }
  }
}
