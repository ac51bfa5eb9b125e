internal import MartletVocabulary

/// What a receiver's answer means for the delivery.
package enum WebhookAnswer {
  /// - Parameters:
  ///   - retryAfter: The field `Retry-After`.
  ///   - now: Seconds since 1970, for a field that is a date.
  package static func outcome(_ status: Int, retryAfter: String?, at now: Int64) -> DeliveryMachine.Outcome {
    switch status {
    case 200..<300: .delivered
    // The receiver says that it will never take it; every other refusal may be a mistake that is repaired.
    case 410: .refused("the receiver answered 410")
    case 300..<400: .failed("the receiver redirected (\(status)), which is not followed", retryAfter: nil)
    default: .failed("the receiver answered \(status)", retryAfter: pause(retryAfter, at: now))
    }
  }

  /// Milliseconds that a `Retry-After` asks for: seconds, or a date.
  static func pause(_ field: String?, at now: Int64) -> Int64? {
    guard let field else { return nil }
    let bytes = Array(field.utf8)
    if (1...9).contains(bytes.count), bytes.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(field) {
      return seconds * 1_000
    }
    return seconds(ofDate: field).map { max(0, $0 - now) * 1_000 }
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  private static func seconds(ofDate text: String) -> Int64? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let day = Int64(words[1]),
      let month = months.firstIndex(where: { $0 == words[2] }), let year = Int64(words[3]),
      (1970...9999).contains(year)
    else { return nil }
    let time = words[4].split(separator: ":").compactMap { Int64($0) }
    guard time.count == 3, (0..<24).contains(time[0]), (0..<60).contains(time[1]), (0...60).contains(time[2]) else {
      return nil
    }
    guard let date = CivilDate(year: year, month: Int64(month + 1), day: day) else { return nil }
    return date.days * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]
  }
}
