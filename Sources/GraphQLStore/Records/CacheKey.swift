/// The identity of a record: `Flight:42`, or `QUERY_ROOT.flights({"airport":"VIE"})` for a field of a root type.
///
/// Compares by UTF-8 bytes. The hash is taken once, when the key is made.
public struct CacheKey: Sendable, Hashable, CustomStringConvertible {
  /// The key's text.
  public let text: String
  private let hash: Int

  /// A key with the given text.
  public init(_ text: String) {
    self.text = text
    hash = ByteText.hash(of: text)
  }

  /// Same bytes.
  public static func == (left: CacheKey, right: CacheKey) -> Bool {
    left.hash == right.hash && ByteText.isSame(left.text, right.text)
  }

  /// Feeds the hasher with the hash of the bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(hash)
  }

  /// The key's text.
  public var description: String { text }
}

/// What a field is called in a record: its name, and its arguments in one canonical form.
///
/// One object stands for a field wherever it is copied to, so that comparing is mostly comparing addresses.
public struct CacheField: Sendable, Hashable, CustomStringConvertible {
  private final class Storage: Sendable {
    let text: String
    let hash: Int

    init(_ text: String) {
      self.text = text
      hash = ByteText.hash(of: text)
    }
  }
  private let storage: Storage

  /// The field with this name, followed by its arguments in parentheses.
  public init(_ text: String) {
    storage = Storage(text)
  }

  /// The name of an object's type.
  package static let typename = CacheField("__typename")

  /// Name and arguments.
  public var text: String { storage.text }
  var hash: Int { storage.hash }

  /// Same bytes.
  public static func == (left: CacheField, right: CacheField) -> Bool {
    left.storage === right.storage
      || left.storage.hash == right.storage.hash && ByteText.isSame(left.storage.text, right.storage.text)
  }

  /// Feeds the hasher with the hash of the bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(storage.hash)
  }

  /// Name and arguments.
  public var description: String { text }
}

/// Text as the bytes it is made of; `==` of strings also equates composed and decomposed forms.
enum ByteText {
  static func hash(of text: String) -> Int {
    var hasher = Hasher()
    var text = text
    // The bytes are used during the call only.
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return hasher.finalize()
  }

  static func isSame(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    var (left, right) = (left, right)
    // Both have `count` bytes; they are used during the calls only.
    return left.withUTF8 { left in
      right.withUTF8 { right in
        let a = UnsafeRawBufferPointer(left)
        let b = UnsafeRawBufferPointer(right)
        var at = 0
        while at + 8 <= a.count {
          if unsafe a.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            != b.loadUnaligned(fromByteOffset: at, as: UInt64.self)
          {
            return false
          }
          at += 8
        }
        while at < a.count {
          if unsafe a[at] != b[at] { return false }
          at += 1
        }
        return true
      }
    }
  }
}
