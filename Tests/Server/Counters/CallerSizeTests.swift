import Testing

@testable import MartletServer

@Suite struct CallerSizeTests {
  @Test func `a caller is handed on as one reference, and one without credentials of its own is made once`() {
    #expect(MemoryLayout<Caller>.size == MemoryLayout<Int>.size)
    #expect(MemoryLayout<AccessControl.Grant>.size == MemoryLayout<Int>.size)
    var changed = Caller(.guest)
    changed.refusal = "missing"
    #expect(Caller(.guest).refusal == nil)
    #expect(changed.refusal == "missing")
    #expect(changed.grant == .guest)
  }
}
