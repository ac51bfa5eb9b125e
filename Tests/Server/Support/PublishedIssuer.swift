// Made once with another library (Python's cryptography, version 48) from random keys that were thrown away.

/// Tokens of an issuer whose key set is published, signed with two keys, that end in the year 2100.
enum PublishedIssuer {
  static let name = "https://issuer.example"

  /// The public keys by their names.
  static let keys = [
    "k1":
      #"{"kty":"OKP","crv":"Ed25519","kid":"k1","alg":"EdDSA","x":"IDG7psD6exjeguoUfbOvbMosHli1CU21SIIloTq3tPU"}"#,
    "k2":
      #"{"kty":"OKP","crv":"Ed25519","kid":"k2","alg":"EdDSA","x":"vvtRXIYM6hzbb1_9-hGH2XQ3KmJQG3iyRd8gVClqND0"}"#,
  ]

  /// A key set with some of the keys.
  static func set(_ names: String...) -> String {
    "{\"keys\":[" + names.compactMap { keys[$0] }.joined(separator: ",") + "]}"
  }

  /// Tokens by key and subject. All are for the audience "board" and of the group "readers".
  static let tokens = [
    "k1 ada":
      "eyJhbGciOiJFZERTQSIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIl0sImdyb3VwcyI6WyJyZWFkZXJzIl0sImV4cCI6NDEwMjQ0NDgwMH0.EscNiTvpY1dpEOB6_hrlg2aZmoCKyvTm"
      + "yh87-07enG5lHTMrRsoBcuI8UyAjOujFBKm-8iCNn8qs5SnSOVuEBQ",
    "k1 bob":
      "eyJhbGciOiJFZERTQSIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYm9iIiwiYXVk"
      + "IjpbImJvYXJkIl0sImdyb3VwcyI6WyJyZWFkZXJzIl0sImV4cCI6NDEwMjQ0NDgwMH0.AjUhaP9v0pNqqDbkhUUR8vui4hysyJfn"
      + "TdS3Im6coAkrOGD2LaXtv-IC276Sd8Yxj9v8hifshQf2ulcgUKg2DA",
    "k2 ada":
      "eyJhbGciOiJFZERTQSIsImtpZCI6ImsyIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVk"
      + "IjpbImJvYXJkIl0sImdyb3VwcyI6WyJyZWFkZXJzIl0sImV4cCI6NDEwMjQ0NDgwMH0.DrDAzV-8-rTrVZAv0Vskxuw05z4bfTGS"
      + "Xk9atDuAIyd3aQDAAoUBuSsICoaxUt7NQvSPQyL0DhIa5Lb6EeQFDQ",
    "k2 bob":
      "eyJhbGciOiJFZERTQSIsImtpZCI6ImsyIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwic3ViIjoiYm9iIiwiYXVk"
      + "IjpbImJvYXJkIl0sImdyb3VwcyI6WyJyZWFkZXJzIl0sImV4cCI6NDEwMjQ0NDgwMH0.OpreJiEPwyL9ba7tY7zSOMUgSKDJfW56"
      + "X2S_ZqZfyq3Xsy6adbT_8YO6j9lbu_61eb50-IOxSRn0TIXM_5ppCw",
  ]
}
