extension GraphQLClientError {
  /// Whether a subscription that was live ended because its caller may no longer see its data: while it was
  /// connected, or when it was to resume. Credentials that the server refuses, and fresh ones too, show nothing.
  static func isWithdrawal(_ error: any Error) -> Bool {
    guard let error = error as? GraphQLClientError else { return false }
    return error.code == .unauthorized
      || error.errors.contains {
        let code = $0["extensions"]?["code"]
        return code == "ACCESS_REVOKED" || code == "FORBIDDEN"
      }
  }
}
