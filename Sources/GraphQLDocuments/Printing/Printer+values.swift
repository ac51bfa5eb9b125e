extension Printer {
  mutating func value(_ value: Value) {
    switch value.kind {
    case .variable(let name): text += "$" + name
    case .int(let number), .float(let number): text += number
    case .string(let string): self.string(string)
    case .boolean(let flag): text += flag ? "true" : "false"
    case .null: text += "null"
    case .enumeration(let name): text += name
    case .list(let values):
      text += "["
      for (index, element) in values.enumerated() {
        if index > 0 { text += ", " }
        self.value(element)
      }
      text += "]"
    case .object(let fields):
      text += "{"
      for (index, field) in fields.enumerated() {
        text += (index > 0 ? ", " : " ") + field.name.text + ": "
        self.value(field.value)
      }
      text += fields.isEmpty ? "}" : " }"
    }
  }

  mutating func type(_ type: TypeReference) {
    switch type {
    case .named(let name): text += name.text
    case .list(let element, _):
      text += "["
      self.type(element)
      text += "]"
    case .nonNull(let inner, _):
      self.type(inner)
      text += "!"
    }
  }

  /// A string in the form it was written in, as long as that form can hold it.
  mutating func string(_ string: StringValue) {
    if string.isBlock, BlockString.canRepresent(string.text) {
      blockString(string.text)
    } else {
      quotedString(string.text)
    }
  }

  private mutating func blockString(_ string: String) {
    text += "\"\"\""
    guard !string.isEmpty else {
      text += "\"\"\""
      return
    }
    for line in string.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
      // Empty lines stay empty: indentation is only added in front of something.
      guard !line.isEmpty else {
        text += "\n"
        continue
      }
      newLine()
      var quotes = 0
      for scalar in line {
        text.unicodeScalars.append(scalar)
        quotes = scalar == "\"" ? quotes + 1 : 0
        guard quotes == 3 else { continue }
        text.unicodeScalars.removeLast(3)
        text += "\\\"\"\""
        quotes = 0
      }
    }
    newLine()
    text += "\"\"\""
  }

  private mutating func quotedString(_ string: String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{8}": text += "\\b"
      case "\u{C}": text += "\\f"
      case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}":
        let digits = String(scalar.value, radix: 16, uppercase: true)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
