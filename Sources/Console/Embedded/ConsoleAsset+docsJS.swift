// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/docs.js.

extension ConsoleAsset {
  static let docsJS = ConsoleAsset(
    "docs.js", .javaScript,
    ##"""
    // The schema's documentation: root fields, types, fields, and a search over all of them.
    import { find, make } from './dom.js';

    export class Docs {
      /** `use` is called with the kind and the field of a root type whose example is wanted. */
      constructor(use) {
        this.use = use;
        this.schema = null;
        this.path = [];
        this.body = find('docs-body');
        find('docs-search').addEventListener('input', (event) => this.search(event.target.value.trim()));
      }

      show(schema) {
        this.schema = schema;
        this.path = [];
        this.render();
      }

      explain(...content) {
        this.schema = null;
        this.body.replaceChildren(...content);
      }

      open(name) {
        const at = this.path.indexOf(name);
        this.path = at >= 0 ? this.path.slice(0, at + 1) : [...this.path, name];
        find('docs-search').value = '';
        this.render();
        this.body.scrollTop = 0;
        this.body.focus({ preventScroll: true });
      }

      render() {
        const trail = find('docs-path');
        trail.replaceChildren();
        if (this.path.length) trail.append(make('button', { type: 'button', text: 'Schema', onclick: () => { this.path = []; this.render(); } }));
        for (const name of this.path.slice(0, -1)) trail.append('›', make('button', { type: 'button', text: name, onclick: () => this.open(name) }));
        if (this.path.length) trail.append('›', make('span', { text: this.path.at(-1) }));
        this.body.replaceChildren(...(this.path.length ? this.page(this.schema.type(this.path.at(-1))) : this.overview()));
      }

      overview() {
        const { schema } = this;
        const out = [];
        if (schema.description) out.push(make('p', { text: schema.description }));
        for (const kind of ['query', 'mutation', 'subscription']) {
          const root = schema.root(kind);
          if (!root) continue;
          const title = { query: 'Queries', mutation: 'Mutations', subscription: 'Subscriptions' }[kind];
          out.push(make('h3', { text: title }), this.fields(root, kind));
        }
        const others = [...schema.types.values()].filter((type) => !type.name.startsWith('__') && !Object.values(schema.roots).includes(type.name));
        out.push(make('h3', { text: 'Types' }), make('ul', {}, ...others
          .sort((left, right) => order(left) - order(right) || (left.name < right.name ? -1 : 1))
          .map((type) => make('li', {}, this.link(type.name), make('span', { class: 'p', text: ` ${word(type)}` })))));
        return out;
      }

      page(type) {
        const { schema } = this;
        const out = [make('p', { class: 'signature' }, make('span', { class: 'k', text: `${word(type)} ` }), make('span', { class: 't', text: type.name }))];
        if (type.description) out.push(make('p', { text: type.description }));
        const kind = Object.entries(schema.roots).find(([, name]) => name === type.name)?.[0];
        if (type.interfaces?.length) out.push(make('h3', { text: 'Implements' }), this.names(type.interfaces));
        if (type.fields) out.push(make('h3', { text: 'Fields' }), this.fields(type, kind));
        if (type.inputFields) {
          out.push(make('h3', { text: 'Fields' }), make('ul', {}, ...type.inputFields.map((input) => make('li', {},
            make('span', { class: 'a', text: input.name }), make('span', { class: 'p', text: ': ' }), this.reference(input.type),
            input.defaultValue === null ? null : make('span', { class: 'p', text: ` = ${input.defaultValue}` }),
            input.description ? make('p', { text: input.description }) : null))));
        }
        if (type.enumValues) {
          out.push(make('h3', { text: 'Values' }), make('ul', {}, ...type.enumValues.map((value) => make('li', {},
            make('span', { class: value.isDeprecated ? 'old' : '', text: value.name }),
            value.description ? make('p', { text: value.description }) : null))));
        }
        if (type.possibleTypes?.length) out.push(make('h3', { text: 'One of' }), this.names(type.possibleTypes));
        return out;
      }

      names(list) { return make('ul', {}, ...list.map((each) => make('li', {}, this.link(each.name)))); }

      fields(type, kind) {
        return make('ul', {}, ...type.fields.map((field) => make('li', {},
          kind ? make('button', { type: 'button', class: 'insert', text: 'use', title: `Write an example of ${field.name}`, onclick: () => this.use(kind, field) }) : null,
          make('span', { class: field.isDeprecated ? 'f old' : 'f', text: field.name }), ...this.args(field),
          make('span', { class: 'p', text: ': ' }), make('span', { class: 'whole' }, this.reference(field.type)),
          field.isDeprecated ? make('p', { text: `Deprecated: ${field.deprecationReason ?? ''}` }) : null,
          field.description ? make('p', { text: field.description }) : null)));
      }

      args(field) {
        if (!field.args.length) return [];
        const out = [make('span', { class: 'p', text: '(' })];
        field.args.forEach((arg, at) => out.push(make('span', { class: 'a', text: arg.name, title: arg.description ?? '' }),
          make('span', { class: 'p', text: ': ' }), make('span', { class: 'whole' }, this.reference(arg.type),
            make('span', { class: 'p', text: at + 1 < field.args.length ? ',' : ')' })), at + 1 < field.args.length ? ' ' : ''));
        return out;
      }

      reference(type) {
        const text = this.schema.text(type);
        const name = this.schema.named(type)?.name ?? text;
        const [before, after] = text.split(name);
        return make('span', {}, make('span', { class: 'p', text: before }), this.link(name), make('span', { class: 'p', text: after }));
      }

      link(name) { return make('button', { type: 'button', class: 't', text: name, onclick: () => this.open(name) }); }

      search(text) {
        if (!this.schema) return;
        if (!text) return this.render();
        const wanted = text.toLowerCase();
        const found = [];
        for (const type of this.schema.types.values()) {
          if (type.name.startsWith('__')) continue;
          if (type.name.toLowerCase().includes(wanted)) found.push(make('li', {}, this.link(type.name), make('span', { class: 'p', text: ` ${word(type)}` })));
          for (const field of type.fields ?? type.inputFields ?? []) {
            if (field.name.toLowerCase().includes(wanted)) {
              found.push(make('li', {}, this.link(type.name), make('span', { class: 'p', text: '.' }), make('span', { class: 'f', text: field.name })));
            }
          }
        }
        find('docs-path').replaceChildren();
        this.body.replaceChildren(found.length ? make('ul', {}, ...found.slice(0, 120)) : make('p', { text: `Nothing is named like "${text}".` }));
      }
    }

    const word = (type) => ({ OBJECT: 'type', INPUT_OBJECT: 'input', INTERFACE: 'interface', UNION: 'union', ENUM: 'enum', SCALAR: 'scalar' }[type.kind]);
    const order = (type) => ['OBJECT', 'INTERFACE', 'UNION', 'ENUM', 'INPUT_OBJECT', 'SCALAR'].indexOf(type.kind);

    """##)
}
