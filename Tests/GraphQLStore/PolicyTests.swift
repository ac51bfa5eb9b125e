import MartletGraphQLStore
import MartletJSON
import Testing

@Suite struct PolicyTests {
  @Test func `the older names mean the newer policies`() {
    #expect(CachePolicy.returnCacheDataElseFetch == .cacheFirst)
  }
}
