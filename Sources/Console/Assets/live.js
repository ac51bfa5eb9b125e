// One operation from its start to its end: connects, comes back after a lost connection, resumes after its cursor.

const offsetOf = (cursor) => {
  const digits = /-(\d+)$/.exec(cursor ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
};

const pauses = [500, 1000, 2000, 4000, 8000];
const chance = () => crypto.getRandomValues(new Uint8Array(1))[0] / 255;

export class Live {
  /**
   * `show` gets what happened: `state(name, text)`, `event(…)`, `note(kind, text, cursor)`, `end()`.
   * A subscription comes back after a lost connection; other operations are never sent twice.
   */
  constructor(protocol, request, headers, isSubscription, show) {
    Object.assign(this, { protocol, request, headers, isSubscription, show });
    /** How long a cut lasts, in milliseconds: long enough to commit a change in another window. */
    this.cutTime = 3000;
    this.mark = null;
    this.delivered = null;
    this.attempts = 0;
    this.wasLive = false;
    this.tally = { events: 0, resumed: 0, gaps: 0, repeats: 0 };
  }

  start() {
    this.serial = (this.serial ?? 0) + 1;
    const { serial } = this;
    this.isReplaying = this.mark !== null;
    this.show.state('connecting', 'connecting');
    const only = (method) => (...given) => { if (serial === this.serial && !this.isOver) this[method](...given); };
    const sink = Object.fromEntries(['ready', 'next', 'gap', 'position', 'failed', 'complete', 'lost'].map((each) => [each, only(each)]));
    this.connection = this.protocol.open(this.request, { headers: this.headers, resume: this.mark }, sink);
    if (this.isSubscription && !this.protocol.hasCursors) this.live();
  }

  live() {
    if (this.wasLive && this.isAway && !this.protocol.hasCursors) {
      this.tally.gaps += 1;
      this.show.note('gap', 'This protocol has no cursors: what was committed while the connection was away is lost.', null);
    }
    this.isAway = false;
    this.wasLive = true;
    this.show.state('live', 'live');
  }

  // From the protocol

  ready(cursor) {
    this.attempts = 0;
    if (cursor) this.mark = cursor;
    const text = this.isReplaying ? 'Resumed: everything after the cursor has been sent.' : 'Live: later events follow.';
    if (!this.wasLive || this.isAway) this.show.note('ready', text, cursor);
    this.isReplaying = false;
    this.live();
  }

  next(result, cursor, isPartial, about) {
    const offset = offsetOf(cursor);
    if (offset !== null && this.delivered !== null && offset <= this.delivered) {
      this.tally.repeats += 1;
      return;
    }
    if (offset !== null) this.delivered = offset;
    if (cursor && !isPartial) this.mark = cursor;
    this.tally.events += 1;
    if (this.isReplaying) this.tally.resumed += 1;
    if (this.isSubscription) this.attempts = 0;
    this.show.event({ result, cursor, isPartial, isResumed: this.isReplaying, about });
  }

  gap({ reason, from, to }) {
    this.tally.gaps += 1;
    this.mark = to;
    this.show.note('gap', `Gap (${reason}): what lay between ${from ?? 'the beginning'} and ${to} is lost.`, to);
  }

  position(cursor) {
    this.mark = cursor;
    this.show.position(cursor);
  }

  failed(errors) {
    this.finish('failed', 'failed');
    this.show.failed(errors);
  }

  complete() {
    this.finish('done', this.isSubscription ? 'completed' : 'done');
    if (this.isSubscription) this.show.note('note', 'Completed by the server.', null);
  }

  lost(reason, isFinal) {
    if (!this.isSubscription || isFinal) {
      this.show.note('fault', `The connection ended: ${reason}.`, null);
      return this.finish('failed', 'failed');
    }
    this.isAway = true;
    this.show.note('cut', `The connection was lost: ${reason}.`, this.mark);
    const pause = pauses[Math.min(this.attempts, pauses.length - 1)] * (0.8 + chance() * 0.4);
    this.attempts += 1;
    this.comeBack(pause);
  }

  // From the page

  /** Drops the connection and comes back after `cutTime`; while it is away, comes back at once. */
  cut() {
    if (this.isOver) return;
    if (this.timer) return this.resume();
    this.serial += 1;
    this.connection?.cut();
    this.isAway = true;
    this.show.note('cut', 'The connection was cut here.', this.mark);
    this.comeBack(this.cutTime);
  }

  comeBack(pause) {
    const end = performance.now() + pause;
    const tick = () => {
      const left = end - performance.now();
      if (left <= 0) return this.resume();
      this.show.state('away', `back in ${(left / 1000).toFixed(1)} s`);
      this.timer = setTimeout(tick, Math.min(100, left));
    };
    this.timer = setTimeout(tick, 0);
    this.show.state('away', 'away');
  }

  resume() {
    clearTimeout(this.timer);
    this.timer = null;
    this.start();
  }

  stop() {
    if (this.isOver) return;
    this.connection?.close();
    this.finish('idle', 'stopped');
  }

  finish(state, text) {
    this.isOver = true;
    clearTimeout(this.timer);
    this.show.state(state, text);
    this.show.end();
  }
}
