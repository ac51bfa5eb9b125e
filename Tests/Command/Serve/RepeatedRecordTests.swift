import Foundation
import Testing

/// Transactions that name one record several times, and rows of a join that go with either end: by requests, by both
/// WebSocket protocols, by resent writes, as processes.
@Suite(.timeLimit(.minutes(2))) struct RepeatedRecordTests {
  private static let words = #"""
    cat > s.graphql <<'END'
    type Todo @model { id: ID! title: String n: Int }
    type Post @model { id: ID! title: String tags: [Tag] @manyToMany(relationName: "PostTag") }
    type Tag @model { id: ID! posts: [Post] @manyToMany(relationName: "PostTag") }
    END
    cat > talk.py <<'END'
    import http.client, json, socket, sys
    port = int(sys.argv[1])
    QUERY = """mutation($w: [ModelWriteInput!]!) { transaction(writes: $w) {
      ... on Todo { id title n } ... on Post { id title } ... on Tag { id } ... on PostTag { id } } }"""
    def http_(query, variables=None, extensions=None):
        peer = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        body = {"query": query, "variables": variables or {}}
        if extensions: body["extensions"] = extensions
        peer.request("POST", "/graphql", json.dumps(body), {"Content-Type": "application/json"})
        return json.load(peer.getresponse())
    class Socket:
        def __init__(self, protocol):
            self.newer = protocol == "graphql-transport-ws"
            self.peer = socket.create_connection(("127.0.0.1", port), 30)
            self.peer.sendall(("GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Protocol: %s\r\n\r\n" % protocol).encode())
            self.stream = self.peer.makefile("rb")
            while self.stream.readline().strip(): pass
            self.send({"type": "connection_init", "payload": {"martlet": {"cursors": True}}})
            self.await_("connection_ack")
        def send(self, message):
            text = json.dumps(message).encode()
            head = bytes([0x81, 0x80 | len(text)]) if len(text) < 126 else bytes([0x81, 0xFE]) + len(text).to_bytes(2, "big")
            self.peer.sendall(head + bytes(4) + text)
        def await_(self, *types):
            while True:
                size = self.stream.read(2)[1] & 127
                if size == 126: size = int.from_bytes(self.stream.read(2), "big")
                elif size == 127: size = int.from_bytes(self.stream.read(8), "big")
                message = json.loads(self.stream.read(size))
                if message["type"] in types: return message
        def start(self, query, variables=None, name="1"):
            self.send({"id": name, "type": "subscribe" if self.newer else "start", "payload": {"query": query, "variables": variables or {}}})
        def ask(self, query, variables=None):
            self.start(query, variables, "2")
            result = self.await_("next", "data", "error")["payload"]
            self.await_("complete") if not isinstance(result, list) else None
            return result
    def result(answer):
        if answer.get("errors"): return answer["errors"][0]["extensions"]["code"]
        return json.dumps(answer["data"]["transaction"]).replace('"', "").replace("null", "-")
    END
    """#

  @Test func `each operation of a transaction has the result of its own moment, also when one record is named often`()
    async throws
  {
    let run = try await ServedScript.run(
      Self.words + #"""

        serve --data data --create --dev
        cat > first.py <<'END'
        from talk import *
        doors = [http_, Socket("graphql-transport-ws").ask, Socket("graphql-ws").ask]
        many = [{"createTodo": {"id": "m", "n": 0}}] + [{"updateTodo": {"id": "m", "n": n}} for n in range(1, 200)]
        for ask in doors:
            print(result(ask(QUERY, {"w": [
                {"createTodo": {"id": "a", "title": "1"}}, {"updateTodo": {"id": "a", "title": "2"}},
                {"updateTodo": {"id": "a", "title": "2"}}, {"updateTodo": {"id": "a", "n": 3}}, {"deleteTodo": {"id": "a"}},
                {"createTodo": {"id": "a", "title": "4"}}, {"createTodo": {"id": "b"}}, {"updateTodo": {"id": "a", "title": None}}]})))
            # What is refused at its second naming leaves nothing of the first.
            print(result(ask(QUERY, {"w": [{"createTodo": {"id": "c"}}, {"createTodo": {"id": "c"}}]})),
                  result(ask(QUERY, {"w": [{"deleteTodo": {"id": "b"}}, {"updateTodo": {"id": "b", "n": 1}}]})))
            answer = ask(QUERY, {"w": many})
            print([todo["n"] for todo in answer["data"]["transaction"]] == list(range(200)))
            print(json.dumps(ask("{ listTodos { items { id n title } } }")["data"]).replace('"', ""))
            http_("mutation { a: deleteTodo(input: {id: \"a\"}) { id } b: deleteTodo(input: {id: \"b\"}) { id } m: deleteTodo(input: {id: \"m\"}) { id } }")
        END
        python3 first.py $port
        # A resend gets the results of the first time, after a restart as well, whatever has happened since.
        cat > numbered.py <<'END'
        from talk import *
        writes = [{"createTodo": {"id": "r", "title": "1"}}, {"updateTodo": {"id": "r", "title": "2"}}, {"deleteTodo": {"id": "r"}},
                  {"createTodo": {"id": "r", "title": "3"}}]
        resend = {"resend": True} if sys.argv[2] == "again" else {}
        print(result(http_(QUERY, {"w": writes}, {"martlet": {"write": {"client": "one", "number": 1, **resend}}})))
        http_("mutation { updateTodo(input: {id: \"r\", title: \"later\"}) { id } }")
        END
        python3 numbered.py $port first; python3 numbered.py $port again
        stop; serve --data data --dev; python3 numbered.py $port again
        stop; martlet check data > /dev/null; echo "check $?"
        """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    let each = [
      "[{id: a, title: 1, n: -}, {id: a, title: 2, n: -}, {id: a, title: 2, n: -}, {id: a, title: 2, n: 3}, "
        + "{id: a, title: 2, n: 3}, {id: a, title: 4, n: -}, {id: b, title: -, n: -}, {id: a, title: -, n: -}]",
      "ALREADY_EXISTS NOT_FOUND", "True",
      "{listTodos: {items: [{id: a, n: null, title: null}, {id: b, n: null, title: null}, {id: m, n: 199, title: null}]}}",
    ]
    let resent =
      "[{id: r, title: 1, n: -}, {id: r, title: 2, n: -}, {id: r, title: 2, n: -}, {id: r, title: 3, n: -}]"
    let wanted = each + each + each + [resent, resent, resent, "check 0"]
    #expect(run.lines == wanted, "\(run.output)")
  }

  @Test func `rows of a join go with either end, in a transaction as well, and subscribers get each of them`()
    async throws
  {
    let run = try await ServedScript.run(
      Self.words + #"""

        serve --data data --create --dev
        cat > joins.py <<'END'
        from talk import *
        def left(): return [row["id"] for row in http_("{ listPostTags { items { id } } }")["data"]["listPostTags"]["items"]]
        newer, older = Socket("graphql-transport-ws"), Socket("graphql-ws")
        followers = [newer, older]
        for follower in followers:
            follower.start("subscription { onDeletePostTag { id postId tagId } }")
            # Operations of a socket are taken in order: an answer to the next one means that this one has begun.
            follower.ask("{ __typename }")
        for post in "pqr": http_('mutation { createPost(input: {id: "%s"}) { id } }' % post)
        for tag in "tuv": http_('mutation { createTag(input: {id: "%s"}) { id } }' % tag)
        for post in "pqr":
            for tag in "tuv": http_('mutation { createPostTag(input: {id: "%s%s", postId: "%s", tagId: "%s"}) { id } }' % (post, tag, post, tag))
        other = Socket("graphql-ws")
        http_('mutation { deleteTag(input: {id: "t"}) { id } }'); print(left())
        other.ask('mutation { deletePost(input: {id: "p"}) { id } }'); print(left())
        # Both ends, and one of them made again, in one transaction.
        print(result(http_(QUERY, {"w": [{"deletePost": {"id": "q"}}, {"deleteTag": {"id": "v"}}, {"createPost": {"id": "q", "title": "new"}},
            {"createPostTag": {"id": "qu", "postId": "q", "tagId": "u"}}]}))); print(left())
        # One that is refused takes no row with it.
        print(result(other.ask(QUERY, {"w": [{"deleteTag": {"id": "u"}}, {"updateTag": {"id": "u"}}]}))); print(left())
        for follower in followers:
            got = [follower.await_("next", "data")["payload"]["data"]["onDeletePostTag"] for _ in range(8)]
            print(sorted(row["id"] for row in got), all(row["id"] == row["postId"] + row["tagId"] for row in got))
        END
        python3 joins.py $port
        stop; martlet check data > /dev/null; echo "check $?"
        """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    let gone = "['pt', 'pu', 'pv', 'qt', 'qu', 'qv', 'rt', 'rv'] True"
    let wanted = [
      "['pu', 'pv', 'qu', 'qv', 'ru', 'rv']", "['qu', 'qv', 'ru', 'rv']",
      "[{id: q, title: -}, {id: v}, {id: q, title: new}, {id: qu}]", "['qu', 'ru']", "NOT_FOUND", "['qu', 'ru']", gone,
      gone, "check 0",
    ]
    #expect(run.lines == wanted, "\(run.output)")
  }
}
