// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/editor.js.

extension ConsoleAsset {
  static let editorJS = ConsoleAsset(
    "editor.js", .javaScript,
    ##"""
    // A text area with colours beneath it, line numbers, and completion.
    import { make } from './dom.js';
    import { classOf, completions, contextAt, layout, tokenize } from './graphql.js';
    import { coloured } from './json.js';

    const lineHeight = 20;
    const edge = { left: 52, top: 12 };

    export class Editor {
      /** `language` is `graphql` or `json`. `schema` is called whenever completions are wanted. */
      constructor(host, { language, label, placeholder = '', schema = () => null, onchange = () => {}, onrun = () => {} }) {
        Object.assign(this, { host, language, schema, onchange, onrun, offers: [], chosen: 0 });
        this.lines = make('div', { class: 'lines', 'aria-hidden': 'true' });
        this.shade = make('pre', { 'aria-hidden': 'true' });
        this.area = make('textarea', {
          'aria-label': label, placeholder, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', wrap: 'off',
          'aria-autocomplete': language === 'graphql' ? 'list' : null,
          oninput: (event) => { this.refresh(); this.onchange(this.text); this.offerAfter(event); },
          onscroll: () => this.follow(), onkeydown: (event) => this.key(event), onblur: () => this.dismiss(), onclick: () => this.dismiss(),
        });
        this.popup = make('ul', { class: 'popup', role: 'listbox', id: `${host.id}-popup`, 'aria-label': 'Completions', hidden: true });
        host.append(this.shade, this.area, this.lines, this.popup);
        this.refresh();
      }

      get text() { return this.area.value; }
      set text(value) {
        this.area.value = value;
        this.refresh();
        this.onchange(value);
      }

      /** Replaces a range as typing does, so that it can be undone. */
      replace(start, end, text) {
        this.area.focus();
        this.area.setSelectionRange(start, end);
        if (!document.execCommand('insertText', false, text)) {
          this.area.setRangeText(text, start, end, 'end');
          this.refresh();
          this.onchange(this.text);
        }
      }

      format() { this.replace(0, this.text.length, layout(this.text)); }

      // Showing

      refresh() {
        const { text } = this;
        this.shade.replaceChildren(this.language === 'graphql' ? shaded(text) : coloured(text), '\n');
        this.lines.textContent = text.split('\n').map((_, at) => at + 1).join('\n');
        this.follow();
      }

      follow() {
        this.shade.scrollTop = this.area.scrollTop;
        this.shade.scrollLeft = this.area.scrollLeft;
        this.lines.style.top = `${-this.area.scrollTop}px`;
        this.dismiss();
      }

      // Keys

      key(event) {
        const isOpen = !this.popup.hidden;
        const { key } = event;
        if (key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          this.dismiss();
          return this.onrun();
        }
        if (key === 'F' && event.altKey && event.shiftKey && this.language === 'graphql') {
          event.preventDefault();
          return this.format();
        }
        if (key === ' ' && event.ctrlKey) {
          event.preventDefault();
          return this.offer();
        }
        if (isOpen && ['ArrowDown', 'ArrowUp', 'Enter', 'Tab', 'Escape'].includes(key)) {
          event.preventDefault();
          if (key === 'ArrowDown') return this.choose(this.chosen + 1);
          if (key === 'ArrowUp') return this.choose(this.chosen - 1);
          if (key === 'Escape') return this.dismiss();
          return this.accept();
        }
        if (key === 'Enter' && !event.isComposing) {
          event.preventDefault();
          this.breakLine();
        }
      }

      /** A new line at the depth of the present one. */
      breakLine() {
        const { selectionStart: start, selectionEnd: end } = this.area;
        const before = this.text.slice(0, start);
        const indent = /[ \t]*/.exec(before.slice(before.lastIndexOf('\n') + 1))[0];
        const opens = /[{([]\s*$/.test(before);
        const closes = /^\s*[})\]]/.test(this.text.slice(end));
        this.replace(start, end, `\n${indent}${opens ? '  ' : ''}${opens && closes ? `\n${indent}` : ''}`);
        if (opens && closes) {
          const at = start + 1 + indent.length + 2;
          this.area.setSelectionRange(at, at);
        }
      }

      // Completion

      offerAfter(event) {
        if (this.language !== 'graphql' || !event.data || event.data.length !== 1) return;
        if (/[\w@$.]/.test(event.data)) this.offer(); else this.dismiss();
      }

      offer() {
        const schema = this.schema();
        if (!schema || this.language !== 'graphql') return;
        const cursor = this.area.selectionStart;
        this.context = contextAt(this.text, cursor, schema);
        this.offers = completions(this.context, schema).slice(0, 60);
        const isDone = this.offers.length === 1 && this.offers[0].label === this.context.prefix;
        if (!this.offers.length || isDone) return this.dismiss();
        this.popup.replaceChildren(...this.offers.map((item, at) => make('li', {
          role: 'option', id: `${this.popup.id}-${at}`,
          onmousedown: (event) => { event.preventDefault(); this.chosen = at; this.accept(); },
        }, make('code', { text: item.label }), make('span', { text: item.detail }), item.about ? make('small', { text: item.about }) : null)));
        const before = this.text.slice(0, this.context.start);
        const row = before.split('\n').length;
        const column = before.length - before.lastIndexOf('\n') - 1;
        this.popup.hidden = false;
        const width = this.characterWidth();
        const left = edge.left + column * width - this.area.scrollLeft;
        const top = edge.top + row * lineHeight - this.area.scrollTop;
        const room = this.host.clientHeight - top;
        this.popup.style.left = `${Math.max(4, Math.min(left - 9, this.host.clientWidth - 280))}px`;
        this.popup.style.top = room > 150 || top < 170 ? `${top + 2}px` : '';
        this.popup.style.bottom = room > 150 || top < 170 ? '' : `${room + lineHeight + 2}px`;
        this.area.setAttribute('aria-controls', this.popup.id);
        this.choose(0);
      }

      characterWidth() {
        if (!this.width) {
          const probe = make('span', { text: 'm'.repeat(100) });
          this.shade.append(probe);
          this.width = probe.getBoundingClientRect().width / 100;
          probe.remove();
        }
        return this.width;
      }

      choose(at) {
        this.chosen = (at + this.offers.length) % this.offers.length;
        [...this.popup.children].forEach((item, index) => item.setAttribute('aria-selected', index === this.chosen));
        this.popup.children[this.chosen].scrollIntoView({ block: 'nearest' });
        this.area.setAttribute('aria-activedescendant', `${this.popup.id}-${this.chosen}`);
      }

      accept() {
        const item = this.offers[this.chosen];
        const { start, end } = this.context;
        this.dismiss();
        if (item) this.replace(start, end, item.text);
        this.dismiss();
      }

      dismiss() {
        if (this.popup.hidden) return;
        this.popup.hidden = true;
        this.area.removeAttribute('aria-activedescendant');
      }
    }

    function shaded(text) {
      const out = document.createDocumentFragment();
      const tokens = tokenize(text);
      const depth = { braces: 0, parens: 0 };
      let at = 0;
      tokens.forEach((token, index) => {
        out.append(text.slice(at, token.start));
        if ('(['.includes(token.text)) depth.parens += 1;
        if (')]'.includes(token.text)) depth.parens = Math.max(0, depth.parens - 1);
        if (token.text === '{') depth.braces += 1;
        if (token.text === '}') depth.braces = Math.max(0, depth.braces - 1);
        const name = classOf(token, tokens[index + 1], depth);
        out.append(name ? make('span', { class: name, text: token.text }) : token.text);
        at = token.end;
      });
      out.append(text.slice(at));
      return out;
    }

    """##)
}
