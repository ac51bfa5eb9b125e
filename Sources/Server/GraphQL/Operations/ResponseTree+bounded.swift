internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage

extension ResponseTree {
  /// The response with its bytes; an error in its place where it is larger than responses may be.
  func bounded(of plan: OperationPlan, _ limits: ServerLimits) -> ResponseTree {
    let whole = encoded
    // A connection also holds what is around the response.
    let largest = min(limits.query.responseBytes, limits.http.pendingBytes - limits.http.pendingBytes / 16)
    let size = whole.bytes.count
    guard size > largest else { return whole }
    let advice = plan.kind == .mutation ? "The mutation was executed." : "Ask for fewer items or fields."
    let error = ResponseError(
      "The response has \(size) bytes, more than the limit query.responseBytes of \(largest). \(advice)",
      extensions: ["code": "RESPONSE_TOO_LARGE"])
    return ResponseTree(data: .null, errors: [error], extensions: extensions)
  }
}
