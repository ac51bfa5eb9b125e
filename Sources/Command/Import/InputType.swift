import MartletJSON

/// The type of an input field, from introspection.
indirect enum InputType: Equatable {
  enum Kind: Equatable {
    case scalar, enumeration, inputObject
  }

  case named(String, Kind)
  case list(InputType)
  case required(InputType)

  /// Reads `{ kind name ofType { … } }`; nil when it is none.
  init?(introspected value: JSONValue?) {
    guard let value, let kind = value["kind"]?.string else { return nil }
    switch kind {
    case "NON_NULL":
      guard let inner = InputType(introspected: value["ofType"]) else { return nil }
      self = .required(inner)
    case "LIST":
      guard let inner = InputType(introspected: value["ofType"]) else { return nil }
      self = .list(inner)
    case "SCALAR", "ENUM", "INPUT_OBJECT":
      guard let name = value["name"]?.string else { return nil }
      self = .named(name, kind == "SCALAR" ? .scalar : kind == "ENUM" ? .enumeration : .inputObject)
    default: return nil
    }
  }

  var isRequired: Bool {
    switch self {
    case .required: true
    case .named, .list: false
    }
  }

  /// The name of the input object that a field or its list holds; nil for a leaf.
  var objectName: String? {
    switch self {
    case .required(let inner), .list(let inner): inner.objectName
    case .named(let name, let kind): kind == .inputObject ? name : nil
    }
  }

  /// The value a cell's text stands for.
  ///
  /// Lists and input objects are written as JSON in the cell.
  func value(ofText text: String) throws(ConversionError) -> JSONValue {
    switch self {
    case .required(let inner): return try inner.value(ofText: text)
    case .list, .named(_, .inputObject):
      do {
        return try JSONValue(parsing: text)
      } catch {
        throw ConversionError("'\(text)' is not JSON, which lists and objects are written in")
      }
    case .named(_, .enumeration): return .string(text)
    case .named("Int", .scalar), .named("AWSTimestamp", .scalar):
      guard let number = Int64(text) else { throw ConversionError("'\(text)' is not a whole number") }
      return .int(number)
    case .named("Float", .scalar):
      guard let number = Double(text), number.isFinite else { throw ConversionError("'\(text)' is not a number") }
      return .double(number)
    case .named("Boolean", .scalar):
      switch text.lowercased() {
      case "true", "t", "yes", "y", "1": return true
      case "false", "f", "no", "n", "0": return false
      default: throw ConversionError("'\(text)' is neither true nor false")
      }
    case .named(_, .scalar): return .string(text)
    }
  }
}

/// A cell does not fit its field.
struct ConversionError: Error {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
