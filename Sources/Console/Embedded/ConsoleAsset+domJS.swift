// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/dom.js.

extension ConsoleAsset {
  static let domJS = ConsoleAsset(
    "dom.js", .javaScript,
    ##"""
    // Small helpers for the page: elements, times, storage.

    export const find = (id) => document.getElementById(id);

    /** Makes an element. `attributes` with `on…` are listeners; `text` and `class` are what they say. */
    export function make(name, attributes = {}, ...children) {
      const element = document.createElement(name);
      for (const [key, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (key === 'class') element.className = value;
        else if (key === 'text') element.textContent = value;
        else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
        else element.setAttribute(key, value === true ? '' : value);
      }
      element.append(...children.filter((child) => child !== null && child !== undefined));
      return element;
    }

    export function makeSVG(name, attributes = {}) {
      const element = document.createElementNS('http://www.w3.org/2000/svg', name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      return element;
    }

    export const clock = (date = new Date) => date.toTimeString().slice(0, 8);
    export const number = (value) => Math.round(value).toLocaleString('en');

    /** Keeps text between visits; `area` is the session's for credentials. A browser may refuse both. */
    export const kept = {
      get(key, area = 'localStorage') {
        try { return window[area].getItem(`martlet.${key}`); } catch { return null; }
      },
      set(key, value, area = 'localStorage') {
        try { window[area].setItem(`martlet.${key}`, value); } catch { /* Private windows refuse. */ }
      },
    };

    """##)
}
