extension GraphQLOverHTTP {
  /// The status of a result as the draft of August 2026 has it, whatever the response's type.
  ///
  /// - Parameters:
  ///   - hasData: whether there is a `data` entry.
  ///   - hasErrors: whether there are errors.
  ///   - isParsed: whether the document could be parsed.
  package static func draftStatus(hasData: Bool, hasErrors: Bool, isParsed: Bool) -> Int {
    if hasData { return hasErrors ? 294 : 200 }
    return isParsed ? 422 : 400
  }
}

extension GraphQLOverHTTP.RequestFailure {
  /// The status as the draft of August 2026 has it: JSON that is not a request is understood and cannot be processed.
  package var draftStatus: Int {
    if case .request(let error) = reason, error.rule != .notJSON { return 422 }
    return status
  }
}
