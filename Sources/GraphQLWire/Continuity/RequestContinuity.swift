package import MartletJSON
package import MartletVocabulary

/// The member `martlet` of a request's `extensions`.
package struct RequestContinuity: Equatable, Sendable {
  /// Events carry cursors and gaps are reported: asked for per request over HTTP, which has no `connection_init`.
  package var cursors: Bool
  /// The cursor a subscription resumes after: everything up to it has been seen.
  package var resume: Cursor?
  /// A subscription begins with the oldest event of the log. `resume`, when both are there, decides.
  package var fromOldest: Bool
  /// The number of a mutation.
  package var write: WriteNumber?

  package init(cursors: Bool = false, resume: Cursor? = nil, fromOldest: Bool = false, write: WriteNumber? = nil) {
    self.cursors = cursors
    self.resume = resume
    self.fromOldest = fromOldest
    self.write = write
  }

  /// Reads `extensions.martlet`. Absent members are nil, malformed ones an error naming their place.
  package init(extensions: JSONObject) throws(GraphQLRequestError) {
    cursors = false
    fromOldest = false
    guard let member = extensions["martlet"], !member.isNull else { return }
    guard member.object != nil else { throw GraphQLRequestError(.wrongType, "extensions.martlet", "an object") }
    if let value = member["cursors"], !value.isNull {
      guard let asked = value.bool else {
        throw GraphQLRequestError(.wrongType, "extensions.martlet.cursors", "a Boolean")
      }
      cursors = asked
    }
    if let value = member["resume"], !value.isNull {
      guard let text = value.string, let cursor = Cursor(text) else {
        throw GraphQLRequestError(.wrongType, "extensions.martlet.resume", "a cursor")
      }
      resume = cursor
    }
    if let value = member["from"], !value.isNull {
      guard value == "oldest" else {
        throw GraphQLRequestError(.wrongType, "extensions.martlet.from", "the text oldest")
      }
      fromOldest = true
    }
    if let value = member["write"], !value.isNull {
      guard let client = value["client"]?.string, (1...64).contains(client.utf8.count) else {
        throw GraphQLRequestError(.wrongType, "extensions.martlet.write.client", "text of 1 to 64 bytes")
      }
      guard let number = value["number"]?.int, number > 0 else {
        throw GraphQLRequestError(.wrongType, "extensions.martlet.write.number", "a positive integer")
      }
      write = WriteNumber(client: client, number: number)
    }
  }

  /// Whether the request's events carry cursors where no `connection_init` decides.
  package var followsCursors: Bool { cursors || resume != nil || fromOldest }

  /// `extensions` with the member `martlet` that says this; unchanged when there is nothing to say.
  package func added(to extensions: JSONObject) -> JSONObject {
    var member = extensions["martlet"]?.object ?? JSONObject()
    if cursors { member["cursors"] = .bool(true) }
    if fromOldest { member["from"] = "oldest" }
    if let resume { member["resume"] = .string(resume.description) }
    if let write {
      member["write"] = .object(JSONObject([("client", .string(write.client)), ("number", .int(write.number))]))
    }
    if member.isEmpty { return extensions }
    var extensions = extensions
    extensions["martlet"] = .object(member)
    return extensions
  }
}
