extension String {
  /// The text of UTF-8 bytes; nil for bytes that are not UTF-8. The standard library has the same for newer systems.
  init?(wellFormed bytes: some Collection<UInt8>) {
    let text = String(decoding: bytes, as: UTF8.self)
    // What is not UTF-8 is decoded as something else.
    guard text.utf8.elementsEqual(bytes) else { return nil }
    self = text
  }
}
