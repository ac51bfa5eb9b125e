package import MartletGraphQLLanguage
package import MartletJSON

/// Announces something that will be delivered later.
package struct PendingPart: Sendable {
  package var id: Int
  package var path: [GraphQLError.PathElement]
  package var label: String?
  package var isList: Bool
}

/// One delivery: fields for an object, or items for a list.
package struct IncrementalPatch: Sendable {
  package enum Content: Sendable {
    case fields(ResultValue)
    /// Items, and the index of the first.
    case items([ResultValue], at: Int)
  }

  /// What it belongs to.
  package var id: Int
  package var content: Content
  /// The position of the object or list in the response.
  package var path: [GraphQLError.PathElement]
  /// The end of `path` that the announcement's path does not have.
  package var subPath: [GraphQLError.PathElement]
  package var label: String?
  package var errors: [ResponseError]
}

/// Says that nothing more will come for an announced part.
package struct CompletedPart: Sendable {
  package var id: Int
  package var path: [GraphQLError.PathElement]
  package var label: String?
  package var isList: Bool
  /// Why it was not delivered, or not to its end; nil when it was.
  package var errors: [ResponseError]?

  package init(
    id: Int, path: [GraphQLError.PathElement], label: String?, isList: Bool, errors: [ResponseError]? = nil
  ) {
    self.id = id
    self.path = path
    self.label = label
    self.isList = isList
    self.errors = errors
  }
}

/// What one payload of a response in parts says besides its data.
package struct IncrementalUpdate: Sendable {
  package var pending: [PendingPart] = []
  package var patches: [IncrementalPatch] = []
  package var completed: [CompletedPart] = []
  /// False in the last payload.
  package var hasNext = true

  package init(
    pending: [PendingPart] = [], patches: [IncrementalPatch] = [], completed: [CompletedPart] = [], hasNext: Bool = true
  ) {
    self.pending = pending
    self.patches = patches
    self.completed = completed
    self.hasNext = hasNext
  }

  package var isEmpty: Bool { pending.isEmpty && patches.isEmpty && completed.isEmpty }
}

/// One payload of a response in parts.
package enum IncrementalPayload: Sendable {
  /// The response when there was nothing to deliver later.
  case whole(ResponseTree)
  case initial(ResponseTree, IncrementalUpdate)
  case update(IncrementalUpdate)

  /// Whether more payloads follow.
  package var hasNext: Bool {
    switch self {
    case .whole: false
    case .initial(_, let update), .update(let update): update.hasNext
    }
  }

  /// Writes the payload as a JSON object.
  package func write(to writer: inout JSONWriter, format: IncrementalFormat) {
    switch self {
    case .whole(let tree): tree.write(to: &writer)
    case .initial(let tree, let update):
      writer.beginObject()
      tree.writeMembers(to: &writer)
      update.writeMembers(to: &writer, format: format)
      writer.endObject()
    case .update(let update):
      writer.beginObject()
      update.writeMembers(to: &writer, format: format)
      writer.endObject()
    }
  }

  /// The payload's bytes.
  package func bytes(_ format: IncrementalFormat) -> [UInt8] {
    var writer = JSONWriter()
    write(to: &writer, format: format)
    return writer.bytes
  }
}
