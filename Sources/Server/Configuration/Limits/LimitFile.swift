internal import MartletGraphQLLanguage
internal import MartletJSON

/// Why a file of limits was not used: what is wrong, and its line and column from 1.
package struct LimitFileError: Error, Sendable, CustomStringConvertible {
  package let line: Int
  package let column: Int
  package let message: String

  /// `3:17: There is no limit 'http.bodyByte'.`, so that a path before it makes a place that editors open.
  package var description: String { "\(line):\(column): \(message)" }

  fileprivate init(_ message: String, at offset: Int, of text: [UInt8]) {
    let before = text.prefix(max(0, offset))
    line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    // Columns are characters as editors count them; what follows the first malformed byte is not shown anyway.
    column = String(decoding: before[start...], as: UTF8.self).count + 1
    self.message = message
  }
}

extension ServerLimits {
  /// Sets the bounds that a JSON object names, by the names of this structure:
  /// `{"http": {"bodyBytes": "4MiB", "connections": 500}, "webSocket": {"appSyncLifetime": null}}`.
  ///
  /// A value is a number, a text as `set` takes it, or `null` for `none`. Nothing is set when anything is wrong.
  /// - Throws: `LimitFileError` for text that is not JSON, a group or a limit that does not exist or occurs twice, and
  ///   a value out of its range.
  package mutating func set(json text: [UInt8]) throws(LimitFileError) {
    let root: JSONTape.Element
    do throws(JSONError) {
      root = try JSONTape(text).root
    } catch {
      throw LimitFileError("\(error)", at: error.offset, of: text)
    }
    guard root.kind == .object else {
      throw LimitFileError("Limits are a JSON object of groups such as \"http\".", at: root.range.lowerBound, of: text)
    }
    var limits = self
    for (group, members, place) in root.members {
      guard LimitSetting.groups.contains(where: { $0.utf8.elementsEqual(group.utf8) }) else {
        let near = Suggestions.near(group, among: LimitSetting.groups).first.map { " Did you mean \($0)?" } ?? ""
        throw LimitFileError("There is no group of limits '\(group)'.\(near)", at: place, of: text)
      }
      guard members.kind == .object else {
        throw LimitFileError(
          "\(group) is an object of limits such as {\"\(LimitSetting.example(in: group))\": …}.",
          at: members.range.lowerBound, of: text)
      }
      for (name, value, place) in members.members {
        let setting: LimitSetting
        do throws(LimitSettingError) {
          setting = try LimitSetting.named("\(group).\(name)")
        } catch {
          throw LimitFileError(error.description, at: place, of: text)
        }
        do throws(LimitSettingError) {
          try setting.set(value.limitText, in: &limits)
        } catch {
          throw LimitFileError(error.description, at: value.range.lowerBound, of: text)
        }
      }
    }
    self = limits
  }
}

extension LimitSetting {
  /// The names of the groups, in their order.
  static let groups: [String] = all.reduce(into: []) { groups, setting in
    let group = String(setting.name.prefix { $0 != "." })
    if groups.last != group { groups.append(group) }
  }

  /// The name of one limit of a group.
  fileprivate static func example(in group: String) -> String {
    let setting = all.first { $0.name.hasPrefix("\(group).") }
    return String(setting?.name.dropFirst(group.count + 1) ?? "")
  }
}

extension JSONTape.Element {
  /// Members with their names and the offsets of their names.
  fileprivate var members: [(name: String, value: JSONTape.Element, place: Int)] {
    var members: [(name: String, value: JSONTape.Element, place: Int)] = []
    forEachMember { name, place, value in members.append((name, value, place)) }
    return members
  }

  /// What a limit is set to: a text's content, `none` for null, else the value as it is written.
  fileprivate var limitText: String {
    isNull ? "none" : string ?? String(decoding: rawBytes, as: UTF8.self)
  }
}
