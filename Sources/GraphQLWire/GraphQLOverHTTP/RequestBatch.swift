package import MartletJSON
internal import MartletWire

/// Bounds of several operations in one HTTP request.
package struct BatchLimits: Sendable {
  /// Most operations. A screen asks for a handful; more would let one request hold a server.
  package var operations = 10

  package init() {}
}

/// The requests of one body: one object, or a list of them, answered by a list in the same order.
package struct RequestBatch: Equatable, Sendable {
  package private(set) var requests: [RequestPayload]
  /// Whether the answer is a list.
  package var isList: Bool

  /// Whether a body is a list rather than an object.
  package static func isList(_ body: [UInt8]) -> Bool {
    body.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D } == UInt8(ascii: "[")
  }

  /// Reads a body.
  package init(
    json body: [UInt8], limits: BatchLimits = BatchLimits(), json: JSONLimits = JSONLimits()
  ) throws(GraphQLRequestError) {
    guard Self.isList(body) else {
      requests = [try RequestPayload(json: body, limits: json)]
      isList = false
      return
    }
    let tape: JSONTape
    do throws(JSONError) {
      tape = try JSONTape(body, limits: json)
    } catch {
      throw GraphQLRequestError(.notJSON, "", error.description)
    }
    let count = tape.root.count
    guard count > 0 else { throw GraphQLRequestError(.emptyBatch, "request", "at least one operation") }
    guard count <= limits.operations else {
      throw GraphQLRequestError(.batchTooLarge, "request", "at most \(limits.operations) operations")
    }
    var elements: [JSONTape.Element] = []
    tape.root.forEach { elements.append($0) }
    requests = []
    for element in elements { requests.append(try RequestPayload(element)) }
    isList = true
  }

  /// Puts a value in the place of a null, by the path of the upload specification: `variables.file`, or with the
  /// operation's position in a list, `0.variables.files.1`. False unless there is a null at that path.
  mutating func substitute(_ value: JSONValue, at path: String) -> Bool {
    var steps = path.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { [UInt8]($0) }
    var index = 0
    if isList {
      guard let first = steps.first, let position = HTTPSyntax.decimal(first[...]), requests.indices.contains(position)
      else { return false }
      index = position
      steps.removeFirst()
    }
    guard steps.count > 1, steps[0] == Array("variables".utf8) else { return false }
    guard let changed = Self.replacing(.object(requests[index].variables), steps.dropFirst(), by: value),
      let variables = changed.object
    else { return false }
    requests[index].variables = variables
    return true
  }

  private static func replacing(_ value: JSONValue, _ steps: ArraySlice<[UInt8]>, by new: JSONValue) -> JSONValue? {
    guard let step = steps.first else {
      // Spelled out: a bare nil beside a JSON value would be the JSON null.
      if value.isNull { return new }
      return Optional<JSONValue>.none
    }
    switch value {
    case .object(var object):
      let key = String(decoding: step, as: UTF8.self)
      guard let member = object[key], let changed = replacing(member, steps.dropFirst(), by: new) else { return nil }
      object[key] = changed
      return .object(object)
    case .array(var list):
      guard let position = HTTPSyntax.decimal(step[...]), list.indices.contains(position),
        let changed = replacing(list[position], steps.dropFirst(), by: new)
      else { return nil }
      list[position] = changed
      return .array(list)
    case .null, .bool, .int, .uint, .double, .string: return nil
    }
  }
}
