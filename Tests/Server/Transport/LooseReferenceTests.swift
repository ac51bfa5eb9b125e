import MartletRuntime
import Testing

@Suite struct LooseReferenceTests {
  private final class Owner {
    let loose = LooseReference<Owner>()
    init() { loose.refer(to: self) }
    deinit { loose.clear() }
  }

  @Test func `a loose reference has its object, does not keep it, and is nil once it is gone`() {
    var owner: Owner? = Owner()
    let loose = owner?.loose
    let isSame = loose?.object === owner
    #expect(isSame && owner != nil)
    owner = nil
    #expect(loose != nil && loose?.object == nil)
  }
}
