internal import MartletAccess
internal import MartletJSON
internal import MartletVocabulary

extension QuotaRefusal {
  /// What a client is answered with, by whichever door.
  var message: String { "More than the limit \(limit) allows." }

  /// The members beside it: the code, the limit by its name, and when the client may try again.
  var extensions: JSONObject {
    var extensions: JSONObject = ["code": .string(code), "limit": .string(limit)]
    if let retryAfter {
      extensions["retryAfterMs"] = .int((retryAfter.wholeNanoseconds + 999_999) / 1_000_000)
    }
    return extensions
  }

  /// The value of `Retry-After`, in whole seconds; nil where nothing is to be said.
  var retryAfterField: String? {
    retryAfter.map { "\(max(1, ($0.wholeNanoseconds + 999_999_999) / 1_000_000_000))" }
  }

  private var code: String {
    switch resource {
    case .connections, .subscriptions: "LIMIT_EXCEEDED"
    case .operations, .bytes, .cost: "RATE_LIMITED"
    }
  }
}
