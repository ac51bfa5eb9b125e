internal import MartletJSON

extension GraphQLRequest {
  /// What an answer holds of this request's value.
  func read(_ answer: GraphQLResponse<JSONValue>) -> Result<R, GraphQLResponseError<R>> {
    var value = answer.data ?? .null
    for member in decodePath?.split(separator: ".") ?? [] { value = value[String(member)] ?? .null }
    if !answer.errors.isEmpty, value.isNull { return .failure(.error(answer.errors)) }
    do {
      let decoded = try decode(value)
      return answer.errors.isEmpty ? .success(decoded) : .failure(.partial(decoded, answer.errors))
    } catch {
      return .failure(.transformationError("\(value)", error))
    }
  }

  /// The same for the payload of one event, which may be no answer at all.
  func read(_ event: SubscriptionEvent) -> Result<R, GraphQLResponseError<R>> {
    do {
      return read(try GraphQLResponse<JSONValue>(event))
    } catch {
      return .failure(.transformationError(String(decoding: event.payload, as: UTF8.self), error))
    }
  }

  private func decode(_ value: JSONValue) throws -> R {
    if let same = value as? R { return same }
    return try JSONDecoding(types: .foundation).decode(R.self, from: value)
  }
}
