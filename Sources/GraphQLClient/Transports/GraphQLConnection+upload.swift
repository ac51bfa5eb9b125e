internal import Foundation

extension GraphQLConnection {
  /// Runs an operation with files: by HTTP, also where subscriptions have a socket.
  /// - Throws: as `perform`, and `invalidRequest` where everything goes by the socket.
  package func upload(_ request: OperationRequest, files: [GraphQLFile]) async throws -> OperationPayload {
    guard sendsFiles else {
      throw GraphQLClientError(.invalidRequest, "files go by HTTP, and everything goes by the socket here")
    }
    let form = try UploadForm(request, files, boundary: "martlet-\(UUID().uuidString)")
    var extras = request.extras(configuration)
    extras.form = (contentType: form.contentType, body: form.body)
    return try await perform(form.request.wire, request.operationKind, extras, part: request.onPart)
  }
}
