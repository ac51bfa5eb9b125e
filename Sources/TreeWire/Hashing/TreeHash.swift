package import MartletJSONTree
import MartletWire

/// The protocol's hash of a node: SHA-1 over a text, in base64. Client and server compare it to spare a value.
///
/// | node | text |
/// | --- | --- |
/// | leaf | `TYPE:VALUE`, numbers as 16 hexadecimal digits of the double |
/// | with children | `:KEY:HASH` for each child, in the order of priorities and keys |
/// | with a priority | `priority:TYPE:VALUE:` before either |
///
/// The hash of a node that does not exist is the empty text.
package enum TreeHash {
  package static func hash(_ node: TreeNode) -> String {
    if node.isEmpty { return "" }
    var text: [UInt8] = []
    if let priority = node.priority {
      text += Array("priority:".utf8)
      append(priority, to: &text)
      text.append(UInt8(ascii: ":"))
    }
    if let scalar = node.scalar {
      append(scalar, to: &text)
    } else {
      OrderedChildren(node, order: .priority).forEach { key, child in
        text += Array(":\(key.text):\(hash(child))".utf8)
        return true
      }
    }
    return Base64.encode(SHA1.digest(text))
  }

  /// The text of a leaf without its priority.
  static func representation(_ scalar: TreeScalar) -> [UInt8] {
    var text: [UInt8] = []
    append(scalar, to: &text)
    return text
  }

  private static func append(_ scalar: TreeScalar, to text: inout [UInt8]) {
    switch scalar {
    case .bool(let value): text += Array("boolean:\(value)".utf8)
    case .string(let value): text += Array("string:\(value)".utf8)
    case .int, .double:
      text += Array("number:".utf8)
      let digits = Array("0123456789abcdef".utf8)
      let bits = (scalar.number ?? 0).bitPattern
      for shift in stride(from: UInt64(60), through: 0, by: -4) { text.append(digits[Int(bits >> shift & 15)]) }
    }
  }

  /// The `ETag` of a node in the REST interface; a node that does not exist has one as well.
  package static func entityTag(_ node: TreeNode) -> String {
    node.isEmpty ? "null_etag" : hash(node)
  }
}
