import Martlet

/// Writes todos, and says what a screen has to show for each result.
struct TodoWriter: Sendable {
  enum Outcome: Equatable, Sendable {
    case saved(id: String)
    /// The server refused the values: show its words beside the form.
    case refused(code: String, message: String)
    /// Nothing was changed: offer "try again".
    case tryAgain(String)
    /// The credentials are not accepted: show the sign-in screen.
    case signInAgain
  }

  let client: GraphQLClient

  struct Created: Decodable, Sendable {
    struct Todo: Decodable, Sendable {
      let id: String
    }
    let createTodo: Todo?
  }

  struct Found: Decodable, Sendable {
    struct Todo: Decodable, Sendable {
      let id: String
    }
    let getTodo: Todo?
  }

  /// The program chooses the id, so that it can look for the record when the answer was lost.
  func save(id: String, text: String) async throws -> Outcome {
    let document = "mutation Add($id: ID, $text: String!) { createTodo(input: {id: $id, text: $text}) { id } }"
    do {
      let response = try await client.mutate(
        document, variables: ["id": .string(id), "text": .string(text)], as: Created.self)
      if let todo = response.data?.createTodo { return .saved(id: todo.id) }
      // The request arrived and the server says why it did not do it: errors of the response, not of Swift.
      let error = response.errors.first
      return .refused(code: error?.extensions["code"]?.string ?? "", message: error?.message ?? "")
    } catch let error as GraphQLClientError {
      switch error.code {
      case .outcomeUnknown:
        // The mutation may have been executed. Ask before sending it again.
        return try await exists(id) ? .saved(id: id) : .tryAgain(error.message)
      case .operationFailed:
        // Refused as a whole, before anything was executed.
        return .refused(code: error.errorCode ?? "", message: error.message)
      case .unauthorized:
        return .signInAgain
      default:
        return .tryAgain(error.message)
      }
    }
  }

  private func exists(_ id: String) async throws -> Bool {
    let response = try await client.query(
      "query Find($id: ID!) { getTodo(id: $id) { id } }", variables: ["id": .string(id)], as: Found.self)
    return response.data?.getTodo != nil
  }
}

extension GraphQLClientError {
  /// The code of the first error that the server sent.
  var errorCode: String? { errors.first?["extensions"]?["code"]?.string }
}
