package import MartletHTTPWire
package import MartletJSON
package import MartletVocabulary

extension AppSyncRealtime {
  /// Signs what a client of this protocol says by IAM: the handshake, and each subscription by itself.
  package struct Signer: Sendable {
    private let signer: RequestSigner
    /// The GraphQL host, which every authorization names.
    private let host: String
    /// The path of the GraphQL address.
    private let path: String
    /// What the calendar said, in milliseconds since 1970, at a moment of the connection's own clock.
    private let calendar: (milliseconds: Int64, at: Instant)

    package init(
      _ keys: RequestSigner.Keys, region: String, host: String, target: String, calendar milliseconds: Int64,
      at now: Instant
    ) {
      signer = RequestSigner(keys, region: region, service: "appsync")
      self.host = host
      path = String(target.prefix { $0 != "?" })
      calendar = (milliseconds, now)
    }

    /// The authorization of the opening handshake.
    package func connection(at now: Instant) -> JSONObject {
      authorization("\(path)/connect", body: Array("{}".utf8), at: now)
    }

    /// The authorization of a subscription whose `data` is this text.
    package func subscription(_ data: [UInt8], at now: Instant) -> JSONObject {
      authorization(path, body: data, at: now)
    }

    private func authorization(_ path: String, body: [UInt8], at now: Instant) -> JSONObject {
      let passed = (now - calendar.at).components
      let milliseconds = passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
      let fields = signer.signed(
        "POST", path,
        [
          (name: "accept", value: "application/json, text/javascript"), (name: "content-encoding", value: "amz-1.0"),
          (name: "content-type", value: "application/json; charset=UTF-8"), (name: "host", value: host),
        ], body: body, at: calendar.milliseconds + milliseconds)
      var blob = JSONObject()
      for (name, value) in fields {
        // The protocol's own spelling.
        blob[name == "x-amz-security-token" ? "X-Amz-Security-Token" : name] = .string(value)
      }
      return blob
    }
  }

  /// The region in the host of an endpoint at AWS, `ID.appsync-api.REGION.amazonaws.com`; nil under other names.
  package static func region(ofHost host: String) -> String? {
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.count >= 5, labels[1] == "appsync-api" || labels[1] == "appsync-realtime-api",
      labels[3] == "amazonaws", !labels[2].isEmpty
    else { return nil }
    return String(labels[2])
  }
}
