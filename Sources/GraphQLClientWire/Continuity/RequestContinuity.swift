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
  /// What the server last said about what the client's rights let it see. Another view at a resume is a gap.
  package var view: String?
  /// The number of a mutation.
  package var write: WriteNumber?
  /// The client waits for no answer to its writes up to this number, which is smaller than the mutation's own.
  package var acknowledged: Int64?
  /// The client has sent this mutation before, and the server has answered an earlier one.
  package var isResend = false
  /// For an update of a versioned record: what the fields that it writes held when the client wrote it.
  package var replaced: JSONObject?

  package init(
    cursors: Bool = false, resume: Cursor? = nil, fromOldest: Bool = false, view: String? = nil,
    write: WriteNumber? = nil, acknowledged: Int64? = nil
  ) {
    self.cursors = cursors
    self.resume = resume
    self.fromOldest = fromOldest
    self.view = view
    self.write = write
    self.acknowledged = acknowledged
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
    if let value = member["view"], !value.isNull {
      guard let text = value.string else {
        throw GraphQLRequestError(.wrongType, "extensions.martlet.view", "text")
      }
      view = text
    }
    if let value = member["write"], !value.isNull {
      guard let client = value["client"]?.string, (1...64).contains(client.utf8.count) else {
        throw GraphQLRequestError(.wrongType, "extensions.martlet.write.client", "text of 1 to 64 bytes")
      }
      guard let number = value["number"]?.int, number > 0 else {
        throw GraphQLRequestError(.wrongType, "extensions.martlet.write.number", "a positive integer")
      }
      write = WriteNumber(client: client, number: number)
      if let given = value["acknowledged"], !given.isNull {
        guard let last = given.int, (0..<number).contains(last) else {
          throw GraphQLRequestError(
            .wrongType, "extensions.martlet.write.acknowledged", "an integer from 0 to below the write's number")
        }
        acknowledged = last
      }
      if let given = value["resend"], !given.isNull {
        guard let flag = given.bool else {
          throw GraphQLRequestError(.wrongType, "extensions.martlet.write.resend", "a Boolean")
        }
        isResend = flag
      }
      if let given = value["replaced"], !given.isNull {
        guard let values = given.object else {
          throw GraphQLRequestError(.wrongType, "extensions.martlet.write.replaced", "an object")
        }
        replaced = values
      }
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
    if let view, resume != nil { member["view"] = .string(view) }
    if let write {
      var value = JSONObject([("client", .string(write.client)), ("number", .int(write.number))])
      if let acknowledged { value["acknowledged"] = .int(acknowledged) }
      if isResend { value["resend"] = .bool(true) }
      if let replaced { value["replaced"] = .object(replaced) }
      member["write"] = .object(value)
    }
    if member.isEmpty { return extensions }
    var extensions = extensions
    extensions["martlet"] = .object(member)
    return extensions
  }

  /// `extensions` of a request that is sent again: its write is marked as a resend, if it has a number and the client's
  /// earlier writes have ended. The server refuses a marked write of a client that it no longer knows; a client
  /// without earlier writes may be unknown only because its first request was lost.
  package static func resending(_ extensions: JSONObject) -> JSONObject {
    guard !extensions.isEmpty, var continuity = try? RequestContinuity(extensions: extensions),
      continuity.write != nil, (continuity.acknowledged ?? 0) > 0
    else { return extensions }
    continuity.isResend = true
    return continuity.added(to: extensions)
  }
}
