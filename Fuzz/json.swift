import MartletJSON

/// Reads bytes as JSON under each policy. What is read must write to a text that reads back equal; a tape's raw bytes
/// must read back as the value they stand for.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  for policy in [JSONLimits.DuplicateKeys.reject, .keepLast, .keepFirst] {
    var limits = JSONLimits()
    limits.duplicateKeys = policy
    guard let tape = try? JSONTape(bytes, limits: limits) else { continue }
    let value = tape.root.value
    let again = try? JSONValue(parsing: value.serialized())
    precondition(again == value, "a written value reads back equal")
    let raw = try? JSONValue(parsing: Array(tape.root.rawBytes), limits: limits)
    precondition(raw == value, "the raw bytes of a value read as the value")
  }
  return 0
}
