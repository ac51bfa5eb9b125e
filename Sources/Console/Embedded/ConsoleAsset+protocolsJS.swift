// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/protocols.js.

extension ConsoleAsset {
  static let protocolsJS = ConsoleAsset(
    "protocols.js", .javaScript,
    ##"""
    // Every protocol in which a browser can speak to the server, behind one interface.
    //
    // `open(request, options, sink)` starts one operation and returns `{ close(), cut() }`: `close` ends it as the
    // protocol says, `cut` drops the connection under it. The sink gets `ready(cursor)`,
    // `next(result, cursor, isPartial)`, `gap({reason, from, to})`, `position(cursor)`, `failed(errors)`, `complete()`
    // and `lost(reason, isFinal)`.

    const socketURL = (path) => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}`;
    const jsonType = 'application/json';

    /** Asks for cursors over HTTP, or resumes after one. */
    const continuity = (resume) => ({ martlet: resume ? { resume } : { cursors: true } });

    /** What a result over HTTP says beside its data. True when it has nothing else. */
    function takeContinuity(result, sink) {
      const said = result.extensions?.martlet;
      if (!said) return false;
      if (said.ready) sink.ready(said.ready.cursor ?? null);
      else if (said.gap) sink.gap(said.gap);
      else if (said.position) sink.position(said.position.cursor);
      else return false;
      return true;
    }

    /** A result without the server's marks, for showing. */
    function withoutMarks(result) {
      if (!result.extensions?.martlet) return result;
      const { martlet, ...extensions } = result.extensions;
      const shown = { ...result, extensions };
      if (!Object.keys(extensions).length) delete shown.extensions;
      return shown;
    }

    function takeResult(result, sink) {
      if (takeContinuity(result, sink)) return;
      const said = result.extensions?.martlet;
      sink.next(withoutMarks(result), said?.cursor ?? null, said?.partial === true);
    }

    // WebSockets

    /** A WebSocket whose calls stop when it was closed from here. */
    function socket(path, protocols, handlers, sink) {
      const web = new WebSocket(socketURL(path), protocols);
      const state = { isOver: false, web, send: (message) => web.send(JSON.stringify(message)) };
      web.onopen = () => { if (!state.isOver) handlers.open(state); };
      web.onmessage = (event) => { if (!state.isOver) handlers.message(JSON.parse(event.data), state); };
      web.onclose = (event) => {
        if (state.isOver) return;
        state.isOver = true;
        const isFinal = event.code >= 4400 && event.code < 4500 && event.code !== 4408;
        sink.lost(`closed with ${event.code}${event.reason ? `: ${event.reason}` : ''}`, isFinal);
      };
      state.end = (last) => {
        if (state.isOver) return;
        state.isOver = true;
        if (last && web.readyState === WebSocket.OPEN) state.send(last);
        web.close(1000);
      };
      return state;
    }

    const transportWS = {
      name: 'graphql-transport-ws', hasCursors: true,
      open(request, { headers, resume }, sink) {
        const body = { ...request };
        if (resume) body.extensions = { ...request.extensions, martlet: { resume } };
        const state = socket('/graphql', ['graphql-transport-ws'], {
          open: (it) => it.send({ type: 'connection_init', payload: { ...headers, martlet: { cursors: true } } }),
          message: (message, it) => {
            switch (message.type) {
              case 'connection_ack': return it.send({ id: '1', type: 'subscribe', payload: body });
              case 'ping':
                if (message.payload?.martlet?.cursor) sink.position(message.payload.martlet.cursor);
                return it.send({ type: 'pong', payload: message.payload });
              case 'ready': return sink.ready(message.cursor ?? null);
              case 'gap': return sink.gap(message);
              case 'next': return sink.next(message.payload, message.cursor ?? null, message.partial === true);
              case 'error': it.end(); return sink.failed(message.payload);
              case 'complete': it.end(); return sink.complete();
            }
          },
        }, sink);
        return { close: () => state.end({ id: '1', type: 'complete' }), cut: () => state.end() };
      },
    };

    const olderWS = {
      name: 'graphql-ws (older)', hasCursors: false,
      open(request, { headers }, sink) {
        const state = socket('/graphql', ['graphql-ws'], {
          open: (it) => it.send({ type: 'connection_init', payload: headers }),
          message: (message, it) => startStop(message, it, sink, { id: '1', type: 'start', payload: request }),
        }, sink);
        return { close: () => state.end({ id: '1', type: 'stop' }), cut: () => state.end() };
      },
    };

    const appSync = {
      name: 'AppSync WebSocket', hasCursors: false,
      open(request, { headers }, sink) {
        const authorization = { host: location.host, ...headers };
        const blob = btoa(unescape(encodeURIComponent(JSON.stringify(authorization)))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
        const start = { id: '1', type: 'start', payload: { data: JSON.stringify({ query: request.query, variables: request.variables, operationName: request.operationName }), extensions: { authorization } } };
        const state = socket('/graphql/realtime', ['graphql-ws', `header-${blob}`], {
          open: (it) => it.send({ type: 'connection_init' }),
          message: (message, it) => startStop(message, it, sink, start),
        }, sink);
        return { close: () => state.end({ id: '1', type: 'stop' }), cut: () => state.end() };
      },
    };

    /** The messages that the older protocol and AppSync's have in common. */
    function startStop(message, it, sink, start) {
      switch (message.type) {
        case 'connection_ack': return it.send(start);
        case 'start_ack': return sink.ready(null);
        case 'data': return sink.next(message.payload, null, false);
        case 'complete': it.end(); return sink.complete();
        case 'connection_error': case 'error':
          it.end();
          return sink.failed(message.payload?.errors ?? [].concat(message.payload ?? { message: 'The server refused the connection.' }));
      }
    }

    // Streams over HTTP

    /** Sends a request and calls `read` with the pieces of its body. The signal ends it. */
    async function stream(path, init, sink, read) {
      const abort = new AbortController();
      const ended = { value: false };
      const over = (action) => { if (!ended.value) { ended.value = true; action(); } };
      (async () => {
        try {
          const response = await fetch(path, { ...init, signal: abort.signal, cache: 'no-store' });
          const type = response.headers.get('Content-Type') ?? '';
          if (!response.ok || type.includes('json')) {
            const text = await response.text();
            let result = null;
            try { result = JSON.parse(text); } catch { /* The text is shown as it is. */ }
            if (response.ok && result && !result.errors) return over(() => { sink.next(result, null, false); sink.complete(); });
            return over(() => sink.failed(result?.errors ?? [{ message: text.trim() || `The server answered ${response.status}.` }]));
          }
          const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
          for (;;) {
            const { done, value } = await reader.read();
            if (done) break;
            if (!ended.value) read(value, type, over);
          }
          over(() => sink.lost('the response ended', false));
        } catch (error) {
          over(() => sink.lost(error.message, false));
        }
      })();
      return { over, stop: () => { ended.value = true; abort.abort(); } };
    }

    /** Reads an event stream by the HTML standard, from text in any cut. */
    export function eventReader(dispatch) {
      let rest = '';
      let event = { name: 'message', data: [], id: null };
      return (text) => {
        const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
        rest = lines.pop();
        for (const line of lines) {
          if (line === '') {
            if (event.data.length) dispatch(event.name, event.data.join('\n'), event.id);
            else if (event.name === 'complete') dispatch('complete', '', null);
            event = { name: 'message', data: [], id: null };
            continue;
          }
          const colon = line.indexOf(':');
          const field = colon < 0 ? line : line.slice(0, colon);
          const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
          if (field === 'event') event.name = value;
          else if (field === 'data') event.data.push(value);
          else if (field === 'id') event.id = value;
        }
      };
    }

    const post = (request, headers, accept, resume) => ({
      method: 'POST', headers: { ...headers, 'Content-Type': jsonType, Accept: accept },
      body: JSON.stringify({ ...request, extensions: { ...request.extensions, ...continuity(resume) } }),
    });

    const distinctEvents = {
      name: 'SSE, distinct connections', hasCursors: true,
      open(request, { headers, resume }, sink) {
        let running = null;
        const read = eventReader((name, data) => {
          if (name === 'next') takeResult(JSON.parse(data), sink);
          if (name === 'complete') running.then((it) => it.over(() => { it.stop(); sink.complete(); }));
        });
        running = stream('/graphql/stream', post(request, headers, 'text/event-stream', resume), sink, read);
        const stop = () => running.then((it) => it.stop());
        return { close: stop, cut: stop };
      },
    };

    const singleEvents = {
      name: 'SSE, single connection', hasCursors: true,
      open(request, { headers, resume }, sink) {
        let running = null;
        let isOver = false;
        let token = null;
        const named = () => ({ ...headers, 'X-GraphQL-Event-Stream-Token': token });
        (async () => {
          const reserved = await fetch('/graphql/stream', { method: 'PUT', headers });
          const text = await reserved.text();
          if (!reserved.ok) return sink.failed([{ message: text.trim() }]);
          token = text.trim();
          if (isOver) return;
          const read = eventReader((name, data) => {
            const message = data ? JSON.parse(data) : {};
            if (name === 'next') takeResult(message.payload, sink);
            if (name === 'complete') { running?.then((it) => it.stop()); isOver = true; sink.complete(); }
          });
          running = stream('/graphql/stream', { headers: { ...named(), Accept: 'text/event-stream' } }, sink, read);
          const extensions = { ...request.extensions, ...continuity(resume), operationId: '1' };
          const accepted = await fetch('/graphql/stream', {
            method: 'POST', headers: { ...named(), 'Content-Type': jsonType, Accept: jsonType },
            body: JSON.stringify({ ...request, extensions }),
          });
          if (accepted.ok || isOver) return;
          const result = await accepted.json().catch(() => ({}));
          (await running).stop();
          sink.failed(result.errors ?? [{ message: `The server answered ${accepted.status}.` }]);
        })().catch((error) => { if (!isOver) { isOver = true; sink.lost(error.message, false); } });
        const stop = () => { isOver = true; running?.then((it) => it.stop()); };
        return {
          cut: stop,
          close: () => {
            if (token) fetch('/graphql/stream?operationId=1', { method: 'DELETE', headers: named() }).catch(() => {}).finally(stop);
            else stop();
          },
        };
      },
    };

    const multipart = {
      name: 'multipart over HTTP', hasCursors: true,
      open(request, { headers, resume }, sink) {
        let rest = '';
        const read = (text, type, over) => {
          const boundary = /boundary="?([^";]+)"?/.exec(type)?.[1] ?? '-';
          rest += text;
          const parts = rest.split(`\r\n--${boundary}`);
          rest = parts.pop();
          for (const part of parts) takePart(part);
          if (rest.startsWith('--')) over(() => { running.then((it) => it.stop()); sink.complete(); });
        };
        const takePart = (part) => {
          const body = part.slice(part.indexOf('\r\n\r\n') + 4).trim();
          if (!body.startsWith('{')) return;
          const message = JSON.parse(body);
          if (message.errors) return sink.failed(message.errors);
          if (message.payload) return takeResult(message.payload, sink);
          if ('data' in message) sink.next(message, null, false);
        };
        const accept = 'multipart/mixed;subscriptionSpec=1.0, application/json;q=0.5';
        const running = stream('/graphql', post(request, headers, accept, resume), sink, read);
        const stop = () => running.then((it) => it.stop());
        return { close: stop, cut: stop };
      },
    };

    const plain = {
      name: 'JSON over HTTP', hasCursors: false, isSingle: true,
      open(request, { headers }, sink) {
        const abort = new AbortController();
        fetch('/graphql', {
          method: 'POST', signal: abort.signal, cache: 'no-store',
          headers: { ...headers, 'Content-Type': jsonType, Accept: 'application/graphql-response+json, application/json;q=0.9' },
          body: JSON.stringify(request),
        }).then(async (response) => {
          const text = await response.text();
          let result;
          try { result = JSON.parse(text); } catch { return sink.failed([{ message: text.trim() || `The server answered ${response.status}.` }]); }
          sink.next(result, null, false, { status: response.status, bytes: text.length });
          sink.complete();
        }).catch((error) => { if (!abort.signal.aborted) sink.lost(error.message, true); });
        return { close: () => abort.abort(), cut: () => abort.abort() };
      },
    };

    export const protocols = {
      'transport-ws': transportWS, 'older-ws': olderWS, appsync: appSync, 'sse-distinct': distinctEvents,
      'sse-single': singleEvents, multipart, http: plain,
    };

    """##)
}
