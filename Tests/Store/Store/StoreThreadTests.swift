#if canImport(Glibc)  // Darwin has classes of quality in place of niceness, which no test can read.
  import Glibc
  import MartletRuntime
  import Testing

  @testable import MartletStore

  @Suite struct StoreThreadTests {
    /// The niceness of a thread of the store, and of another after it.
    private static func niceness(_ wanted: Int) -> CInt {
      let thread = StoreThread(niceness: wanted)
      let found = Lock<CInt?>(nil)
      thread.execute { found.withLock { $0 = getpriority(0, 0) } }
      thread.stop()
      return found.withLock { $0 } ?? -1
    }

    private static let steps: [(Int, CInt)] = [(0, 0), (4, 4), (1_000, 19)]

    @Test(arguments: steps) func `a reader's thread gives way, and no other thread does`(wanted: Int, steps: CInt) {
      let before = getpriority(0, 0)
      #expect(Self.niceness(wanted) == min(19, before + steps))
      #expect(Self.niceness(0) == before)
      #expect(getpriority(0, 0) == before)
    }

    @Test func `threads that read lists give way as the limit says, the other threads of a store do not`() {
      var limits = StoreLimits()
      limits.readers = 1
      limits.listNiceness = 3
      let options = StoreOptions(term: 1, clock: ManualClock().clock, limits: limits)
      let found = Lock<[CInt]>([])
      for executor in [options.listReaders[0], options.readers[0], options.writer] {
        executor.execute { found.withLock { $0.append(getpriority(0, 0)) } }
        executor.stop()
      }
      options.checkpointer?.stop()
      let own = getpriority(0, 0)
      #expect(found.withLock { $0 } == [min(19, own + 3), own, own])
    }
  }
#endif
