internal import MartletVocabulary

/// The command line was not understood, or a value on it does not fit.
package struct UsageError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// The words after a subcommand, checked against its specification.
package struct ParsedArguments: Sendable {
  package private(set) var operands: [String] = []
  private var values: [String: [String]] = [:]
  package let wantsHelp: Bool

  package init(_ words: [String], for specification: CommandSpecification) throws(UsageError) {
    var rest = words[...]
    var wantsHelp = false
    var onlyOperands = false
    while let word = rest.popFirst() {
      if !onlyOperands, word == "--" {
        onlyOperands = true
      } else if !onlyOperands, word == "--help" || word == "-h" {
        wantsHelp = true
      } else if !onlyOperands, word.hasPrefix("--") {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = specification.options.first(where: { $0.name == name }) else {
          throw UsageError(Self.unknown(name, in: specification))
        }
        if values[name] != nil, !option.repeats {
          throw UsageError("--\(name) is given twice.")
        }
        if let valueName = option.value {
          guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
            throw UsageError("--\(name) needs a value: --\(name) \(valueName).")
          }
          let choices = option.choices.map(\.name)
          guard choices.isEmpty || choices.contains(value) else {
            throw UsageError(Choices.unknown(value, among: choices, is: "--\(option.name)"))
          }
          values[name, default: []].append(value)
        } else {
          guard parts.count == 1 else { throw UsageError("--\(name) takes no value.") }
          values[name] = [""]
        }
      } else {
        operands.append(word)
      }
    }
    self.wantsHelp = wantsHelp
    if wantsHelp { return }
    if let (option, choice) = chosenForm(specification) {
      try checkOperands(of: choice, option, specification)
    } else {
      try checkOperands(specification)
    }
  }

  /// The word of an option that asks for operands of its own.
  private func chosenForm(
    _ specification: CommandSpecification
  ) -> (option: String, choice: CommandSpecification.Choice)? {
    for option in specification.options {
      let choice = option.choices.first { $0.name == values[option.name]?.last }
      if let choice, !choice.operands.isEmpty { return ("--\(option.name)", choice) }
    }
    return nil
  }

  private func checkOperands(_ specification: CommandSpecification) throws(UsageError) {
    let required = specification.operands.filter { !$0.isOptional }
    if operands.count < required.count {
      throw UsageError("Missing operand \(required[operands.count].name).\nUSAGE: \(specification.usage)")
    }
    if operands.count > specification.operands.count {
      throw UsageError("Unexpected operand '\(operands[specification.operands.count])'.\nUSAGE: \(specification.usage)")
    }
    for (operand, word) in zip(specification.operands, operands)
    where !operand.choices.isEmpty && !operand.choices.contains(where: { $0.name == word }) {
      throw UsageError(Choices.unknown(word, among: operand.choices.map(\.name), is: operand.name))
    }
  }

  /// Checks the number of operands where the word after `option` asks for its own.
  private func checkOperands(
    of choice: CommandSpecification.Choice, _ option: String, _ specification: CommandSpecification
  ) throws(UsageError) {
    let usage = specification.usage(choice.operands, "\(option) \(choice.name) [OPTIONS]")
    if operands.count < choice.operands.count {
      throw UsageError("Missing operand \(choice.operands[operands.count]).\nUSAGE: \(usage)")
    }
    if operands.count > choice.operands.count {
      throw UsageError("Unexpected operand '\(operands[choice.operands.count])'.\nUSAGE: \(usage)")
    }
  }

  package func has(_ name: String) -> Bool { values[name] != nil }

  package func value(_ name: String) -> String? { values[name]?.last }

  package func all(_ name: String) -> [String] { values[name] ?? [] }

  /// A whole number in `range`.
  package func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw UsageError(
        "--\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'.")
    }
    return number
  }

  /// A number of seconds, as `30`, `1.5` or with a unit: `200ms`, `5m`, `2h`, `7d`.
  package func duration(_ name: String) throws(UsageError) -> Duration? {
    guard let text = value(name) else { return nil }
    if let duration = DurationText.parse(text) { return duration }
    throw UsageError("--\(name) must be a duration such as 30, 200ms, 5m or 7d, not '\(text)'.")
  }

  private static func unknown(_ name: String, in specification: CommandSpecification) -> String {
    if let near = Choices.nearest(name, among: specification.options.map(\.name)) {
      return "Unknown option --\(name). Did you mean --\(near)?"
    }
    return "Unknown option --\(name). '\(specification.program) \(specification.name) --help' lists the options."
  }
}
