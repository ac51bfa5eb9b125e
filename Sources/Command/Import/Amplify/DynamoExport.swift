import Foundation
import MartletCommandLine
import MartletJSON

/// The items of a DynamoDB table: an export to S3 in the format DynamoDB JSON, an `Item` a line, or what
/// `aws dynamodb scan` prints, one object with all `Items`. Deleted records, which AppSync keeps for a while, are left
/// out.
struct DynamoExport: RowSource {
  let header: [String] = []
  private let source: ByteSource
  private var line = 0
  /// The items of a scan that have not been handed out; nil for an export by lines.
  private var items: ArraySlice<JSONValue>?
  /// The first line, which shows the format.
  private var first: JSONValue?

  init(_ source: ByteSource) throws(CommandFailure) {
    self.source = source
    var text: [UInt8] = []
    // Some parts of an export have no items.
    while Self.isBlank(text) {
      guard let next = try nextLine() else {
        items = []
        return
      }
      text = next
    }
    if let value = try? JSONValue(parsing: text), value["Item"] != nil || value["Items"] == nil {
      first = value
      return
    }
    var whole = text
    while let byte = try source.next() { whole.append(byte) }
    do {
      guard let found = try JSONValue(parsing: whole)["Items"]?.array else {
        throw CommandFailure(.badData, "The file has neither an Item a line nor a list of Items.")
      }
      items = found[...]
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(.badData, "The file is neither DynamoDB JSON by lines nor one object: \(error).")
    }
  }

  var taken: Int { source.taken }

  var fraction: Double {
    guard let size = source.size, size > 0 else { return 0 }
    return min(1, Double(source.taken) / Double(size))
  }

  mutating func next() throws(CommandFailure) -> ImportRow? {
    while let (item, line) = try nextItem() {
      guard let attributes = item.object else { throw CommandFailure(.badData, "Item \(line): not an object.") }
      var row = JSONObject()
      for (name, value) in attributes {
        do throws(ConversionError) {
          row[name] = try Self.value(value)
        } catch {
          throw CommandFailure(.badData, "Item \(line), attribute \(name): \(error.reason).")
        }
      }
      if row["_deleted"]?.bool != true { return .object(row, line: line) }
    }
    return nil
  }

  private mutating func nextItem() throws(CommandFailure) -> (JSONValue, Int)? {
    if items != nil {
      line += 1
      return items?.popFirst().map { ($0, line) }
    }
    if let value = first {
      first = nil
      return (try item(value), line)
    }
    while let text = try nextLine() {
      if Self.isBlank(text) { continue }
      do {
        return (try item(try JSONValue(parsing: text)), line)
      } catch let failure as CommandFailure {
        throw failure
      } catch {
        throw CommandFailure(.badData, "Line \(line): \(error).")
      }
    }
    return nil
  }

  private static func isBlank(_ line: [UInt8]) -> Bool {
    line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
  }

  private func item(_ value: JSONValue) throws(CommandFailure) -> JSONValue {
    guard let item = value["Item"] else { throw CommandFailure(.badData, "Line \(line): there is no Item.") }
    return item
  }

  private mutating func nextLine() throws(CommandFailure) -> [UInt8]? {
    guard try source.peek() != nil else { return nil }
    line += 1
    var text: [UInt8] = []
    while let byte = try source.next(), byte != UInt8(ascii: "\n") { text.append(byte) }
    return text
  }

  // MARK: Values

  /// What an attribute with its type stands for: `{"S": "text"}`, `{"N": "1.5"}`, `{"L": […]}`, `{"M": {…}}`.
  private static func value(_ attribute: JSONValue) throws(ConversionError) -> JSONValue {
    guard let object = attribute.object, object.count == 1,
      let (type, content) = object.first.map({ ($0.key, $0.value) })
    else { throw ConversionError("not a value with its type") }
    switch (type, content) {
    case ("S", .string), ("B", .string), ("BOOL", .bool), ("SS", .array), ("BS", .array): return content
    case ("NULL", _): return .null
    case ("N", .string(let text)): return try number(text)
    case ("NS", .array(let numbers)):
      var values: [JSONValue] = []
      for text in numbers { values.append(try number(text.string ?? "")) }
      return .array(values)
    case ("L", .array(let elements)):
      var values: [JSONValue] = []
      for element in elements { values.append(try value(element)) }
      return .array(values)
    case ("M", .object(let members)):
      var values = JSONObject()
      for (name, member) in members { values[name] = try value(member) }
      return .object(values)
    case (_, _): throw ConversionError("'\(type)' is not a type of DynamoDB, or its value is another one's")
    }
  }

  private static func number(_ text: String) throws(ConversionError) -> JSONValue {
    if let whole = Int64(text) { return .int(whole) }
    guard let number = Double(text), number.isFinite else { throw ConversionError("'\(text)' is not a number") }
    return .double(number)
  }
}
