// The server's load as small plots, and the changes of its log as they are committed.
import { find, make, makeSVG, number } from './dom.js';
import { brief, coloured } from './json.js';

const samples = 90;
const rows = 200;
const interval = 1000;

/** Each plot: its title and the value of a sample; rates are per second, from the sample before. */
const plots = [
  { title: 'Connections', value: (now) => now.gauges.connections },
  { title: 'Subscriptions', value: (now) => now.gauges.subscriptions },
  { title: 'Changes/s', value: (now, before, seconds) => (now.server.head - before.server.head) / seconds },
  { title: 'Events sent/s', value: (now, before, seconds) => (now.counters.deliveries - before.counters.deliveries) / seconds },
  { title: 'Operations/s', value: (now, before, seconds) => (now.counters.operations - before.counters.operations) / seconds },
];

export class Activity {
  /** `headers` is called for the credentials of each request. */
  constructor(headers) {
    this.headers = headers;
    this.head = null;
    this.series = plots.map(() => []);
    this.views = plots.map((plot) => {
      const line = makeSVG('polyline', {});
      const area = makeSVG('polygon', {});
      const svg = makeSVG('svg', { viewBox: '0 0 90 30', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
      svg.append(area, line);
      const value = make('dd', { text: '–' });
      find('plots').append(make('div', {}, make('dt', { text: plot.title }), value, svg));
      return { line, area, value };
    });
  }

  async run() {
    for (;;) {
      if (!document.hidden) await this.read();
      await new Promise((resume) => setTimeout(resume, interval));
    }
  }

  async read() {
    const status = find('server');
    try {
      const after = this.head === null ? '' : `?after=${this.head}`;
      const response = await fetch(`/console/state${after}`, { headers: { ...this.headers(), Accept: 'application/json' }, cache: 'no-store' });
      if (!response.ok) throw new Error(response.status === 401 ? 'The server asks for a key.' : `The server answered ${response.status}.`);
      const now = { ...(await response.json()), at: performance.now() };
      this.take(now);
      status.textContent = `term ${now.server.term} · offset ${number(now.server.head)}`;
      status.title = `The log keeps offsets from ${number(now.server.first)} on, ${number(now.server.bytes)} bytes.`;
      delete status.dataset.state;
    } catch (error) {
      status.textContent = error instanceof TypeError ? 'The server cannot be reached.' : error.message;
      status.dataset.state = 'away';
      this.before = null;
    }
  }

  take(now) {
    const { before } = this;
    if (before && before.server.term === now.server.term) {
      const seconds = (now.at - before.at) / 1000;
      plots.forEach((plot, at) => this.draw(at, Math.max(0, plot.value(now, before, seconds))));
    }
    this.before = now;
    this.head = now.server.head;
    this.list(now);
  }

  draw(at, value) {
    const series = this.series[at];
    series.push(value);
    if (series.length > samples) series.shift();
    const top = Math.max(1, ...series);
    const points = series.map((each, index) => `${samples - series.length + index},${(29 - (each / top) * 27).toFixed(1)}`);
    const { line, area, value: text } = this.views[at];
    line.setAttribute('points', points.join(' '));
    area.setAttribute('points', `${samples - series.length},30 ${points.join(' ')} ${samples - 1},30`);
    text.textContent = Number.isInteger(value) || value >= 10 ? number(value) : value.toFixed(1);
  }

  list(now) {
    const body = find('changes');
    if (!now.changes) {
      find('log-empty').textContent = now.isDevelopment ? 'The newest changes are no longer in memory.' : 'Changes are shown by servers in development only.';
      return;
    }
    if (now.isCut) body.prepend(make('tr', {}, make('td', { colspan: '5', text: '…' })));
    for (const change of now.changes) {
      const word = { create: 'created', update: 'updated', delete: 'deleted', event: 'published' }[change.kind];
      body.prepend(make('tr', { class: `new${change.ends ? ' end' : ''}` },
        make('td', { text: `@${change.offset}` }), make('td', { class: word, text: word }), make('td', { text: change.of }),
        make('td', {}, change.key ? coloured(brief(change.key)) : ''), make('td', {}, coloured(brief(change.values)))));
    }
    while (body.children.length > rows) body.lastChild.remove();
    find('log-empty').hidden = body.children.length > 0;
  }
}
