import MartletGraphQLClientWire
import MartletJSON

/// Takes the results of one query or mutation as they come and makes one of them: in the caller's task, so that a
/// loop has no work with it.
struct PartAssembly {
  private var merged = IncrementalAssembly()
  private let told: (@Sendable (OperationPart) throws -> Void)?

  init(telling told: (@Sendable (OperationPart) throws -> Void)?) { self.told = told }

  /// Takes one; answers the whole when this was the last.
  mutating func receive(_ payload: OperationPayload) throws -> OperationPayload? {
    let number = merged.partCount
    let value: JSONValue
    do throws(JSONError) {
      value = try payload.value
    } catch {
      throw GraphQLClientError(
        .protocolViolation, "part \(number + 1) of the response is not JSON", underlying: error)
    }
    do throws(IncrementalFailure) {
      try merged.receive(value)
    } catch {
      throw GraphQLClientError(.protocolViolation, error.description, underlying: error)
    }
    // Whatever takes parts takes an answer in one piece, which is not looked at further.
    if number == 0, merged.isComplete { return payload }
    try told?(
      OperationPart(
        payload: payload, number: number, result: merged.response, hasNext: !merged.isComplete))
    guard merged.isComplete else { return nil }
    guard merged.data != nil else {
      let message = merged.errors.first?["message"]?.string ?? "the server gave no reason"
      throw GraphQLClientError(.operationFailed, message, errors: merged.errors)
    }
    return OperationPayload(merged.response)
  }

  /// Nothing more comes.
  func end() throws {
    guard merged.partCount > 0 else {
      throw GraphQLClientError(.invalidResponse, "the operation completed without a result")
    }
    do throws(IncrementalFailure) {
      try merged.inputEnded()
    } catch {
      throw GraphQLClientError(.protocolViolation, error.description, underlying: error)
    }
  }
}
