public import MartletJSON

/// One part of an answer that comes in parts.
public struct OperationPart: Sendable {
  /// The part as the server sent it.
  public var payload: OperationPayload
  /// Which it is, from 0.
  public var number: Int
  /// Everything so far, put together: `{"data": …, "errors": …, "extensions": …}`.
  public var result: JSONValue
  /// Whether more is to come.
  public var hasNext: Bool

  /// A part with what it makes of the whole.
  public init(payload: OperationPayload, number: Int, result: JSONValue, hasNext: Bool) {
    self.payload = payload
    self.number = number
    self.result = result
    self.hasNext = hasNext
  }
}
