import MartletGraphQLLanguage
package import MartletJSON

extension IncrementalUpdate {
  /// Whether the older format has something to say: it knows neither announcements nor completions.
  package func isSilent(in format: IncrementalFormat) -> Bool {
    switch format {
    case .current: isEmpty && hasNext
    case .older: patches.isEmpty && completed.allSatisfy { $0.errors == nil } && hasNext
    }
  }

  /// Writes the members of the payload's object.
  package func writeMembers(to writer: inout JSONWriter, format: IncrementalFormat) {
    switch format {
    case .current: writeCurrent(to: &writer)
    case .older: writeOlder(to: &writer)
    }
    writer.key("hasNext")
    writer.bool(hasNext)
  }

  private func writeCurrent(to writer: inout JSONWriter) {
    if !pending.isEmpty {
      writer.key("pending")
      writer.beginArray()
      for part in pending {
        writer.beginObject()
        writer.key("id")
        writer.string(String(part.id))
        writer.key("path")
        writer.path(part.path)
        writer.label(part.label)
        writer.endObject()
      }
      writer.endArray()
    }
    if !patches.isEmpty {
      writer.key("incremental")
      writer.beginArray()
      for patch in patches {
        writer.beginObject()
        writer.key("id")
        writer.string(String(patch.id))
        if !patch.subPath.isEmpty {
          writer.key("subPath")
          writer.path(patch.subPath)
        }
        writer.content(patch)
        writer.endObject()
      }
      writer.endArray()
    }
    if !completed.isEmpty {
      writer.key("completed")
      writer.beginArray()
      for part in completed {
        writer.beginObject()
        writer.key("id")
        writer.string(String(part.id))
        writer.errors(part.errors ?? [])
        writer.endObject()
      }
      writer.endArray()
    }
  }

  private func writeOlder(to writer: inout JSONWriter) {
    let failures = completed.filter { $0.errors != nil }
    guard !(patches.isEmpty && failures.isEmpty) else { return }
    writer.key("incremental")
    writer.beginArray()
    for patch in patches {
      writer.beginObject()
      writer.content(patch)
      writer.key("path")
      switch patch.content {
      case .fields: writer.path(patch.path)
      case .items(_, let index): writer.path(patch.path + [.index(index)])
      }
      writer.label(patch.label)
      writer.endObject()
    }
    for part in failures {
      writer.beginObject()
      writer.key(part.isList ? "items" : "data")
      writer.null()
      writer.errors(part.errors ?? [])
      writer.key("path")
      writer.path(part.path)
      writer.label(part.label)
      writer.endObject()
    }
    writer.endArray()
  }
}

extension JSONWriter {
  fileprivate mutating func label(_ label: String?) {
    guard let label else { return }
    key("label")
    string(label)
  }

  fileprivate mutating func content(_ patch: IncrementalPatch) {
    switch patch.content {
    case .fields(let value):
      key("data")
      value.write(to: &self)
    case .items(let items, _):
      key("items")
      beginArray()
      for item in items { item.write(to: &self) }
      endArray()
    }
    errors(patch.errors)
  }
}
