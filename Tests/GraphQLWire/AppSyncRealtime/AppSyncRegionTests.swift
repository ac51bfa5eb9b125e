import MartletGraphQLWire
import Testing

@Suite struct AppSyncRegionTests {
  @Test(
    arguments: [
      ("abc.appsync-api.eu-west-1.amazonaws.com", "eu-west-1"),
      ("abc.appsync-realtime-api.us-east-1.amazonaws.com", "us-east-1"),
      ("abc.appsync-api.cn-north-1.amazonaws.com.cn", "cn-north-1"), ("api.example.com", nil),
      ("abc.appsync-api..amazonaws.com", nil), ("abc.other-api.eu-west-1.amazonaws.com", nil), ("", nil),
    ] as [(String, String?)])
  func `the region is in the host of AWS's endpoints`(host: String, region: String?) {
    #expect(AppSyncRealtime.region(ofHost: host) == region)
  }
}
