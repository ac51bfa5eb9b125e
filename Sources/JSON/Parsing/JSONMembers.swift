/// Reads the members of one object of a tape by name, in the order in which they are expected to stand: each search
/// begins after the member that was found last.
package struct JSONMembers: Sendable {
  private let tape: JSONTape
  /// Index of the first name, and after the last value.
  private let first: Int
  private let end: Int
  /// Index of the name where the next search begins.
  private var next: Int

  /// The members of `element`; none where it is not an object.
  package init(_ element: JSONTape.Element) {
    tape = element.tape
    first = element.index + 1
    end = element.kind == .object ? Int(element.token.next) : first
    next = first
  }

  /// The value named `name`, compared by bytes; nil when there is none.
  package mutating func value(named name: String) -> JSONValue? { find(name).map { tape.value(at: $0) } }

  /// The same as a part of the tape.
  package mutating func element(named name: String) -> JSONTape.Element? {
    find(name).map { JSONTape.Element(tape: tape, index: $0) }
  }

  /// The index of the value named `name`.
  private mutating func find(_ name: String) -> Int? {
    guard first < end else { return nil }
    let begin = next == end ? first : next
    var at = begin
    repeat {
      let after = Int(tape.tokens[at + 1].next)
      if isName(name, at) {
        next = after
        return at + 1
      }
      at = after == end ? first : after
    } while at != begin
    return nil
  }

  private func isName(_ name: String, _ index: Int) -> Bool {
    let token = tape.tokens[index]
    if token.isComplex {
      return JSONText.unescaped(tape.bytes[Int(token.start)..<Int(token.end)]).elementsEqual(name.utf8)
    }
    guard name.utf8.count == Int(token.end - token.start) else { return false }
    // Without a slice, which would count a reference to the bytes.
    var at = Int(token.start)
    for byte in name.utf8 {
      if tape.bytes[at] != byte { return false }
      at += 1
    }
    return true
  }
}
