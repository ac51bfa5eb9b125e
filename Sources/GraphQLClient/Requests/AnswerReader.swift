import MartletHTTPWire
import MartletRuntime

/// Puts an answer together: whole, or part by part when the call takes parts and the answer has some.
struct AnswerReader {
  private let bodyBytes: Int
  private(set) var head: HTTPResponseHead?
  private var body: [UInt8] = []
  private var parts: MultipartReader?

  /// - Parameter bodyBytes: the longest part.
  init(bodyBytes: Int) {
    self.bodyBytes = bodyBytes
  }

  /// The head has come.
  mutating func begin(_ head: HTTPResponseHead, takesParts: Bool) throws(MultipartFailure) {
    self.head = head
    guard takesParts, (200..<300).contains(head.status), let type = head.headers["Content-Type"],
      MediaType(Array(type.utf8)[...], leniently: true)?.matches("multipart", "mixed") == true
    else { return reserve(head) }
    var bounds = MultipartLimits()
    bounds.partBytes = bodyBytes
    parts = try MultipartReader(contentType: type, limits: bounds)
  }

  /// Makes room for a body whose length the head gives, so that its pieces are not copied as it grows. Memory is taken
  /// as they come.
  private mutating func reserve(_ head: HTTPResponseHead) {
    guard let length = head.headers["Content-Length"].flatMap({ Int($0) }), length > 0 else { return }
    body.reserveCapacity(min(length, bodyBytes))
  }

  /// A piece of the body has come. `part` is called with each part that it completes.
  mutating func take(_ piece: [UInt8], part: ([UInt8]) -> Void) throws(MultipartFailure) {
    guard parts != nil else {
      body += piece
      return
    }
    var found: [MultipartPart] = []
    var broken: MultipartFailure?
    do throws(MultipartFailure) {
      try parts?.receive(piece, parts: &found)
    } catch {
      broken = error
    }
    // Parts without content are keep-alives.
    for found in found where !found.body.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) {
      part(found.body)
    }
    if let broken { throw broken }
  }

  /// The answer is over; nil when there was none.
  mutating func end() throws(MultipartFailure) -> HTTPAnswer? {
    guard let head else { return nil }
    try parts?.inputEnded()
    return HTTPAnswer(head: head, body: body, parts: parts?.partCount)
  }
}
