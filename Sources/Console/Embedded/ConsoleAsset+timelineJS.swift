// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/timeline.js.

extension ConsoleAsset {
  static let timelineJS = ConsoleAsset(
    "timeline.js", .javaScript,
    ##"""
    // What an operation brought: one result, or the events of a subscription as rows.
    import { clock, find, make, number } from './dom.js';
    import { brief, coloured, pretty } from './json.js';

    const most = 400;

    export class Timeline {
      constructor() {
        this.output = find('output');
        this.clear();
      }

      clear() {
        this.list = null;
        this.output.replaceChildren(make('p', { class: 'empty', text: 'Run an operation with the button or Ctrl+Enter. A subscription shows each event with its cursor, and what was lost.' }));
        find('tally').hidden = true;
      }

      begin(isSubscription) {
        this.started = performance.now();
        this.list = isSubscription ? make('ol', {}) : null;
        this.output.replaceChildren(...(this.list ? [this.list] : []));
        find('tally').hidden = !isSubscription;
      }

      /** The whole result of a query or a mutation. */
      result({ result, about }) {
        const parts = [`${Math.max(1, Math.round(performance.now() - this.started))} ms`];
        if (about?.status) parts.unshift(`HTTP ${about.status}`);
        if (about?.bytes) parts.push(`${number(about.bytes)} bytes`);
        this.output.replaceChildren(make('div', { class: 'meta', text: parts.join(' · ') }), make('pre', {}, coloured(pretty(result))));
      }

      event({ result, cursor, isPartial, isResumed }) {
        const members = result.errors ? [] : Object.values(result.data ?? {});
        const shown = members.length === 1 ? members[0] : result.errors ? result : result.data;
        const row = make('details', { class: `row event${result.errors ? ' fault' : ''}` },
          make('summary', {}, make('span', { class: 'when', text: clock() }), cursorCell(cursor, isPartial),
            make('span', { class: 'what' }, isResumed ? make('span', { class: 'mark', text: 'resumed' }) : null, coloured(brief(shown)))));
        row.addEventListener('toggle', () => {
          if (row.open && row.children.length === 1) row.append(make('pre', {}, coloured(pretty(result))));
        });
        this.add(row);
      }

      note(kind, text, cursor) {
        if (!this.list) return this.output.append(make('div', { class: `row note ${kind}` }, make('span', { class: 'when', text: clock() }), cursorCell(null), make('span', { class: 'what', text })));
        this.add(make('div', { class: `row note ${kind}` }, make('span', { class: 'when', text: clock() }), cursorCell(cursor), make('span', { class: 'what', text })));
      }

      failed(errors) {
        const pre = make('pre', {}, coloured(pretty({ errors })));
        if (!this.list) return this.output.replaceChildren(pre);
        this.note('fault', errors[0]?.message ?? 'The operation failed.', null);
        this.add(pre);
      }

      add(row) {
        const isAtEnd = this.output.scrollHeight - this.output.scrollTop - this.output.clientHeight < 40;
        this.list.append(make('li', {}, row));
        if (this.list.children.length > most) this.list.firstChild.remove();
        if (isAtEnd) this.output.scrollTop = this.output.scrollHeight;
      }

      tally({ events, resumed, gaps, repeats }, position) {
        const entries = [['events', number(events)], ['resumed', number(resumed)], ['gaps', number(gaps)], ['repeats', number(repeats)], ['cursor', position ?? '–']];
        find('tally').replaceChildren(...entries.map(([name, value]) => make('div', { 'data-name': name }, make('dt', { text: name }), make('dd', { text: value }))));
      }
    }

    function cursorCell(cursor, isPartial) {
      const offset = cursor?.split('-').at(-1);
      return make('span', { class: 'where', title: cursor ?? '', text: offset ? `@${offset}${isPartial ? ' …' : ''}` : '' });
    }

    """##)
}
