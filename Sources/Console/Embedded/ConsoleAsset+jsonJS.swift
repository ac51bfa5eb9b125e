// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/json.js.

extension ConsoleAsset {
  static let jsonJS = ConsoleAsset(
    "json.js", .javaScript,
    ##"""
    // JSON for reading: coloured, and cut to one line.
    import { make } from './dom.js';

    const pattern = /("(?:\\.|[^"\\])*")(\s*:)?|(true|false|null)|(-?\d[\d.eE+-]*)|([{}[\],])/g;

    /** A text's fragment with the parts of JSON in their classes. */
    export function coloured(text) {
      const out = document.createDocumentFragment();
      let at = 0;
      for (const match of text.matchAll(pattern)) {
        if (match.index > at) out.append(text.slice(at, match.index));
        const [whole, string, colon, word, digits] = match;
        const kind = string ? (colon ? 'a' : 's') : word ? 'k' : digits ? 'n' : 'p';
        if (colon) out.append(make('span', { class: 'a', text: string }), make('span', { class: 'p', text: colon }));
        else out.append(make('span', { class: kind, text: whole }));
        at = match.index + whole.length;
      }
      out.append(text.slice(at));
      return out;
    }

    export const pretty = (value) => JSON.stringify(value, null, 2);

    /** One line of a result: its data without the braces around it. */
    export function brief(value) {
      const text = JSON.stringify(value) ?? '';
      return text.length > 400 ? `${text.slice(0, 400)}…` : text;
    }

    """##)
}
