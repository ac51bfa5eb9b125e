/// Numbers with the noun they count.
package enum Count {
  /// `1 model`, `2 models`; `many` where the plural is not the noun with an s.
  package static func of(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(number == 1 ? one : many ?? one + "s")"
  }
}
