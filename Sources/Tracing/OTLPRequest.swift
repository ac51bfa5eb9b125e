internal import MartletJSON

/// Spans as a collector takes them by OTLP over HTTP, in JSON: the body of a POST to `/v1/traces`.
package enum OTLPRequest {
  package static let contentType = "application/json"

  /// - Parameters:
  ///   - service: the name under which the collector shows the spans (`service.name`).
  ///   - version: the version of the program.
  package static func body(_ spans: [TraceSpan], service: String, version: String) -> [UInt8] {
    let value: JSONValue = [
      "resourceSpans": [
        [
          "resource": ["attributes": [attribute("service.name", .text(service))]],
          "scopeSpans": [
            ["scope": ["name": "martlet", "version": .string(version)], "spans": .array(spans.map { object(of: $0) })]
          ],
        ]
      ]
    ]
    return value.serialized()
  }

  private static func object(of span: TraceSpan) -> JSONValue {
    var object: JSONObject = [
      "traceId": .string(span.context.traceText), "spanId": .string(TraceContext.hexadecimal(span.context.span)),
    ]
    if let parent = span.parent { object["parentSpanId"] = .string(TraceContext.hexadecimal(parent)) }
    object["name"] = .string(span.name)
    object["kind"] = .int(Int64(span.kind.rawValue))
    // Numbers of 64 bits are text in the JSON of protocol buffers.
    object["startTimeUnixNano"] = .string("\(span.start)")
    object["endTimeUnixNano"] = .string("\(span.end)")
    object["attributes"] = .array(span.attributes.map { attribute($0.key, $0.value) })
    // 2 is an error; without a status it went well.
    if let failure = span.failure { object["status"] = ["code": 2, "message": .string(failure)] }
    return .object(object)
  }

  private static func attribute(_ key: String, _ value: TraceSpan.Value) -> JSONValue {
    switch value {
    case .text(let text): ["key": .string(key), "value": ["stringValue": .string(text)]]
    case .number(let number): ["key": .string(key), "value": ["intValue": .string("\(number)")]]
    }
  }
}
