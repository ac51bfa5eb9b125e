// Puts the console together.
import { Activity } from './activity.js';
import { Docs } from './docs.js';
import { find, kept, make } from './dom.js';
import { Editor } from './editor.js';
import { operations } from './graphql.js';
import { Live } from './live.js';
import { protocols } from './protocols.js';
import { loadSchema } from './schema.js';
import { Timeline } from './timeline.js';

let schema = null;
let live = null;

// The theme

const theme = { value: kept.get('theme') };
function showTheme() {
  if (theme.value) document.documentElement.dataset.theme = theme.value;
  else delete document.documentElement.dataset.theme;
  const name = { light: 'Light', dark: 'Dark' }[theme.value] ?? 'As system';
  find('theme').textContent = name;
  find('theme').setAttribute('aria-label', `Theme: ${name}`);
}
find('theme').addEventListener('click', () => {
  theme.value = { light: 'dark', dark: '' }[theme.value] ?? 'light';
  kept.set('theme', theme.value);
  showTheme();
});
showTheme();

// The editors

const shared = { schema: () => schema, onrun: () => run() };
const documentEditor = new Editor(find('document'), {
  ...shared, language: 'graphql', label: 'GraphQL document',
  onchange: (text) => { kept.set('document', text); showOperations(); },
});
const variablesEditor = new Editor(find('variables'), {
  ...shared, language: 'json', label: 'Variables as JSON', placeholder: '{ }', onchange: (text) => kept.set('variables', text),
});
const headersEditor = new Editor(find('headers'), {
  ...shared, language: 'json', label: 'Headers as JSON', placeholder: '{ "x-api-key": "…" }',
  onchange: (text) => { kept.set('headers', text, 'sessionStorage'); clearTimeout(headersEditor.later); headersEditor.later = setTimeout(readSchema, 600); },
});

const tabs = ['variables', 'headers'];
for (const name of tabs) {
  const tab = find(`tab-${name}`);
  tab.addEventListener('click', () => selectTab(name));
  tab.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') selectTab(tabs.find((each) => each !== name), true);
  });
}
function selectTab(name, focuses = false) {
  for (const each of tabs) {
    const isSelected = each === name;
    find(`tab-${each}`).setAttribute('aria-selected', isSelected);
    find(`tab-${each}`).tabIndex = isSelected ? 0 : -1;
    find(each).hidden = !isSelected;
  }
  if (focuses) find(`tab-${name}`).focus();
}

/** The object that an editor holds; throws an error that names the editor. */
function object(editor, name) {
  const text = editor.text.trim();
  if (!text) return {};
  let value;
  try { value = JSON.parse(text); } catch (error) { throw new Error(`${name} are not JSON: ${error.message}`); }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Error(`${name} must be a JSON object.`);
  return value;
}

function headers() {
  try { return object(headersEditor, 'Headers'); } catch { return {}; }
}

// The operation

const automatic = 'automatic';
find('protocol').append(make('option', { value: automatic, text: 'Automatic' }),
  ...Object.entries(protocols).map(([value, { name }]) => make('option', { value, text: name })));
find('protocol').value = kept.get('protocol') ?? automatic;
if (!find('protocol').value) find('protocol').value = automatic;
find('protocol').addEventListener('change', (event) => kept.set('protocol', event.target.value));

function showOperations() {
  const found = operations(documentEditor.text);
  const select = find('operation');
  const before = select.value;
  select.replaceChildren(...found.map((each, at) => make('option', { value: at, text: each.name ?? each.kind })));
  if (before && before < found.length) select.value = before;
  find('operation-choice').hidden = found.length < 2;
}

/** The operation at the text cursor where there are several, else the chosen one. */
function chosen() {
  const found = operations(documentEditor.text);
  if (found.length < 2) return found[0] ?? null;
  if (document.activeElement === documentEditor.area) {
    const at = found.findLastIndex((each) => each.start <= documentEditor.area.selectionStart);
    if (at >= 0) find('operation').value = at;
  }
  return found[Number(find('operation').value)] ?? found[0];
}

const timeline = new Timeline();

function setRunning(isRunning, isSubscription) {
  find('stop').hidden = !isRunning;
  find('cut').hidden = !(isRunning && isSubscription);
}

function showState(name, text) {
  find('state').dataset.state = name;
  find('state').textContent = text;
  find('cut').textContent = name === 'away' ? 'Come back now' : 'Cut the connection';
}

function run() {
  find('problem').textContent = '';
  let request;
  let given;
  const operation = chosen();
  try {
    if (!operation) throw new Error('There is no operation to run.');
    request = { query: documentEditor.text, variables: object(variablesEditor, 'Variables') };
    given = object(headersEditor, 'Headers');
  } catch (error) {
    find('problem').textContent = error.message;
    return;
  }
  if (operation.name) request.operationName = operation.name;
  const isSubscription = operation.kind === 'subscription';
  const choice = find('protocol').value;
  const protocol = protocols[choice] ?? protocols[isSubscription ? 'transport-ws' : 'http'];
  live?.stop();
  timeline.begin(isSubscription);
  setRunning(true, isSubscription);
  const current = new Live(protocol, request, given, isSubscription && !protocol.isSingle, {
    state: (name, text) => { showState(name, text); timeline.tally(current.tally, current.mark); },
    event: (event) => {
      if (isSubscription) timeline.event(event); else timeline.result(event);
      timeline.tally(current.tally, current.mark);
    },
    note: (kind, text, cursor) => { timeline.note(kind, text, cursor); timeline.tally(current.tally, current.mark); },
    position: () => timeline.tally(current.tally, current.mark),
    failed: (errors) => timeline.failed(errors),
    end: () => { if (live === current) setRunning(false); },
  });
  // Tests hold a cut until they end it.
  current.cutTime = Number(document.documentElement.dataset.cutTime) || current.cutTime;
  live = current;
  current.start();
}

find('run').addEventListener('click', run);
find('stop').addEventListener('click', () => live?.stop());
find('cut').addEventListener('click', () => live?.cut());
find('clear').addEventListener('click', () => { live?.stop(); timeline.clear(); showState('idle', 'idle'); });
find('format').addEventListener('click', () => documentEditor.format());
find('share').addEventListener('click', copyCurl);

/** The shell's form of the operation, for a terminal or a bug report. */
function copyCurl() {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const operation = chosen();
  let body;
  try { body = { query: documentEditor.text, variables: object(variablesEditor, 'Variables') }; } catch (error) { find('problem').textContent = error.message; return; }
  if (operation?.name) body.operationName = operation.name;
  const isSubscription = operation?.kind === 'subscription';
  const path = isSubscription ? '/graphql/stream' : '/graphql';
  const fields = { 'Content-Type': 'application/json', ...headers() };
  const command = ['curl', isSubscription ? '-N' : '-s', `${location.origin}${path}`,
    ...Object.entries(fields).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`), `-d ${quoted(JSON.stringify(body))}`].join(' ');
  navigator.clipboard?.writeText(command).then(() => {
    find('share').textContent = 'Copied';
    setTimeout(() => { find('share').textContent = 'Copy as curl'; }, 1500);
  }, () => { find('problem').textContent = command; });
}

// The schema

const docs = new Docs((kind, field) => {
  const example = schema.example(kind, field);
  documentEditor.text = example.text;
  variablesEditor.text = example.variables;
  selectTab('variables');
  documentEditor.area.focus();
});

async function readSchema() {
  try {
    schema = await loadSchema(headers());
    docs.show(schema);
    if (!documentEditor.text.trim()) begin();
  } catch (error) {
    schema = null;
    const needsKey = error.status === 401 || error.status === 403;
    const action = needsKey ? [make('p', {}, make('button', { type: 'button', text: 'Enter a key', onclick: () => {
      selectTab('headers');
      if (!headersEditor.text.trim()) headersEditor.text = '{\n  "x-api-key": ""\n}';
      headersEditor.area.focus();
      const at = headersEditor.text.indexOf('""');
      if (at >= 0) headersEditor.area.setSelectionRange(at + 1, at + 1);
    } }))] : [];
    docs.explain(make('p', { text: error.message }), ...action);
  }
}

/** What a newcomer sees: the first subscription of the schema, else its first query. */
function begin() {
  for (const kind of ['subscription', 'query']) {
    const field = schema.root(kind)?.fields?.[0];
    if (!field) continue;
    const example = schema.example(kind, field);
    documentEditor.text = example.text;
    variablesEditor.text = example.variables;
    return;
  }
}

find('schema-reload').addEventListener('click', readSchema);
headersEditor.text = kept.get('headers', 'sessionStorage') ?? '';
clearTimeout(headersEditor.later);
variablesEditor.text = kept.get('variables') ?? '';
documentEditor.text = kept.get('document') ?? '';
showOperations();
find('log').open = kept.get('log') !== 'closed';
find('log').addEventListener('toggle', () => kept.set('log', find('log').open ? 'open' : 'closed'));
readSchema();
new Activity(headers).run();
