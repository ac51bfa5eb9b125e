// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/graphql.js.

extension ConsoleAsset {
  static let graphqlJS = ConsoleAsset(
    "graphql.js", .javaScript,
    ##"""
    // GraphQL text: tokens, what can be completed at an offset, and its usual layout.

    const pattern = /(#[^\n\r]*)|("""[\s\S]*?(?:"""|$))|("(?:\\.|[^"\\\n\r])*"?)|(\.\.\.)|([$@]?[_A-Za-z][_0-9A-Za-z]*|[$@])|(-?\d[\w.+-]*)|([{}()[\]:=!|&])|([^\s,\uFEFF])/g;
    const kinds = ['comment', 'block', 'string', 'spread', 'name', 'number', 'punctuator', 'other'];

    /** The tokens of a text, in order. Names include `$variables` and `@directives`. */
    export function tokenize(text) {
      const tokens = [];
      for (const match of text.matchAll(pattern)) {
        const kind = kinds[match.slice(1).findIndex((part) => part !== undefined)];
        tokens.push({ kind, text: match[0], start: match.index, end: match.index + match[0].length });
      }
      return tokens;
    }

    /** The operations of a document: kind, name and where they stand. */
    export function operations(text) {
      const found = [];
      let depth = 0;
      const tokens = tokenize(text).filter((token) => token.kind !== 'comment');
      tokens.forEach((token, at) => {
        if (token.kind === 'punctuator') {
          if (token.text === '{' && depth === 0 && !isPartOfDefinition(tokens, at)) {
            found.push({ kind: 'query', name: null, start: token.start });
          }
          if ('{([' .includes(token.text)) depth += 1;
          if ('})]'.includes(token.text)) depth = Math.max(0, depth - 1);
        } else if (depth === 0 && ['query', 'mutation', 'subscription'].includes(token.text)) {
          if (at > 0 && ['fragment', 'on', 'query', 'mutation', 'subscription'].includes(tokens[at - 1].text)) return;
          const next = tokens[at + 1];
          found.push({ kind: token.text, name: next?.kind === 'name' && !/^[$@]/.test(next.text) ? next.text : null, start: token.start });
        }
      });
      return found;
    }

    /** Whether a brace at depth 0 follows a definition's head rather than being an anonymous query. */
    function isPartOfDefinition(tokens, at) {
      if (at === 0) return false;
      return tokens[at - 1].text !== '}';
    }

    /** What stands at `cursor`: the type in force and what may be written there. */
    export function contextAt(text, cursor, schema) {
      const tokens = tokenize(text);
      const inside = tokens.find((token) => token.start < cursor && cursor <= token.end
        && ['comment', 'string', 'block'].includes(token.kind));
      if (inside && (cursor < inside.end || inside.kind === 'comment')) return { kind: 'none', prefix: '' };
      const typed = tokens.find((token) => token.kind === 'name' && token.start < cursor && cursor <= token.end);
      const prefix = typed ? text.slice(typed.start, cursor) : '';
      const from = typed ? typed.start : cursor;
      const stack = [{ kind: 'document', type: null }];
      const variables = [];
      let last = null;
      for (const token of tokens) {
        if (token.start >= from) break;
        if (token.kind === 'comment') continue;
        step(stack, token, last, schema, variables);
        last = token;
      }
      const top = stack.at(-1);
      const used = usedNames(tokens, from, top);
      return { ...describe(top, last, prefix, schema), prefix, start: from, end: typed ? cursor : cursor, used, variables,
        field: top.field ?? null, fragments: fragmentNames(tokens) };
    }

    function step(stack, token, last, schema, variables) {
      const top = stack.at(-1);
      const { text } = token;
      switch (top.kind) {
        case 'document':
          if (['query', 'mutation', 'subscription'].includes(text)) Object.assign(top, { type: schema.root(text), isNamed: true });
          else if (last?.text === 'on') top.type = schema.type(text);
          else if (text === 'fragment') top.type = null;
          else if (text === '(') stack.push({ kind: 'definitions' });
          else if (text === '{') stack.push({ kind: 'selection', type: top.type ?? schema.root('query'), from: token.start });
          if (text === '{') top.type = null;
          break;
        case 'definitions':
          if (text === ')') stack.pop();
          else if (text.startsWith('$')) variables.push(text);
          break;
        case 'selection':
          if (text === '}') stack.pop();
          else if (text === '{') {
            stack.push({ kind: 'selection', type: top.narrowed ?? schema.named(top.field?.type) ?? top.spreads ?? null, from: token.start });
            top.narrowed = top.spreads = null;
          } else if (text === '(') {
            stack.push({ kind: 'arguments', inputs: top.directive ? schema.directive(top.directive)?.args : top.field?.args, from: token.start });
          } else if (text === '...') Object.assign(top, { spreads: top.type, field: null, directive: null });
          else if (text.startsWith('@')) top.directive = text.slice(1);
          else if (token.kind === 'name') {
            if (last?.text === 'on') top.narrowed = schema.type(text);
            else if (text !== 'on' || last?.text !== '...') {
              Object.assign(top, { field: schema.field(top.type, text), directive: null, spreads: null, narrowed: null });
            }
          }
          break;
        default:
          value(stack, top, token, last, schema);
      }
    }

    /** A step inside arguments, an input object or a list. */
    function value(stack, top, token, last, schema) {
      const { text } = token;
      if (text === ')' || text === '}' || text === ']') stack.pop();
      else if (text === ':') top.expects = top.inputs?.find((input) => input.name === top.name)?.type ?? { kind: 'SCALAR', name: '' };
      else if (text === '{') stack.push({ kind: 'object', inputs: schema.named(valueType(top))?.inputFields, from: token.start });
      else if (text === '[') stack.push({ kind: 'list', expects: inner(valueType(top)), from: token.start });
      else if (token.kind === 'name' && top.kind !== 'list' && last?.text !== ':') Object.assign(top, { name: text, expects: null });
      if ((top.kind === 'arguments' || top.kind === 'object') && last?.text === ':' && text !== '[' && text !== '{') top.expects = null;
    }

    const valueType = (frame) => frame.expects ?? null;
    const inner = (type) => (!type ? null : type.kind === 'LIST' ? type.ofType : type.kind === 'NON_NULL' ? inner(type.ofType) : type);

    function describe(top, last, prefix, schema) {
      if (prefix.startsWith('@') || last?.text === '@') return { kind: 'directives' };
      switch (top.kind) {
        case 'document': return { kind: last?.text === 'on' ? 'types' : 'keywords', of: null };
        case 'definitions':
          return { kind: last && (last.text === ':' || last.text === '[') ? 'inputs' : 'none' };
        case 'selection':
          if (last?.text === '...') return { kind: 'spreads', type: top.type };
          if (last?.text === 'on') return { kind: 'types', of: top.type };
          return { kind: 'fields', type: top.type };
        default:
          if (top.expects && (top.kind === 'list' || last?.text === ':')) {
            return { kind: 'values', type: schema.named(top.expects), isVariable: prefix.startsWith('$') };
          }
          return top.kind === 'list' ? { kind: 'none' } : { kind: 'arguments', inputs: top.inputs ?? [] };
      }
    }

    /** The names written between the frame's opening and the cursor, so that arguments are not offered twice. */
    function usedNames(tokens, cursor, frame) {
      if (frame.kind !== 'arguments' && frame.kind !== 'object') return new Set();
      const names = new Set();
      tokens.forEach((token, at) => {
        if (token.start > frame.from && token.start < cursor && tokens[at + 1]?.text === ':') names.add(token.text);
      });
      return names;
    }

    const fragmentNames = (tokens) => tokens
      .filter((token, at) => tokens[at - 1]?.text === 'fragment' && token.kind === 'name')
      .map((token) => token.text);

    /** What may be written at a place, best first: the label, its type and its description. */
    export function completions(context, schema) {
      const { prefix } = context;
      const offers = offer(context, schema);
      const wanted = prefix.toLowerCase();
      return offers
        .filter((item) => item.label.toLowerCase().includes(wanted) && !context.used.has(item.label.replace(/: ?$/, '')))
        .sort((left, right) => rank(left, wanted) - rank(right, wanted) || left.order - right.order);
    }

    const rank = (item, wanted) => (item.label.toLowerCase().startsWith(wanted) ? 0 : 1);

    function offer(context, schema) {
      const list = (items) => items.map((item, order) => ({ detail: '', text: item.label, ...item, order }));
      switch (context.kind) {
        case 'keywords':
          return list(['query', 'mutation', 'subscription', 'fragment']
            .filter((word) => word === 'fragment' || schema.root(word)).map((label) => ({ label })));
        case 'fields':
          return list([...(context.type?.fields ?? []).map((field) => ({
            label: field.name, detail: schema.text(field.type), about: field.description, isOld: field.isDeprecated,
          })), ...(context.type ? [{ label: '__typename', detail: 'String!' }] : [])]);
        case 'spreads': return list([{ label: 'on', text: 'on ' }, ...context.fragments.map((label) => ({ label, detail: 'fragment' }))]);
        case 'types': return list((context.of ? schema.possible(context.of) : schema.composites()).map((type) => ({ label: type.name, about: type.description })));
        case 'inputs': return list(schema.inputs().map((type) => ({ label: type.name, detail: type.kind.toLowerCase().replace('_', ' '), about: type.description })));
        case 'directives': return list(schema.directives.filter((each) => !each.locations.every((place) => /[A-Z]+_DEFINITION|SCHEMA|SCALAR|OBJECT|ENUM|UNION|INTERFACE/.test(place)))
          .map((each) => ({ label: `@${each.name}`, about: each.description })));
        case 'arguments': return list(context.inputs.map((input) => ({
          label: input.name, text: `${input.name}: `, detail: schema.text(input.type), about: input.description,
        })));
        case 'values': return list([
          ...(context.type?.enumValues ?? []).map((each) => ({ label: each.name, about: each.description })),
          ...(context.type?.name === 'Boolean' ? [{ label: 'true' }, { label: 'false' }] : []),
          ...context.variables.map((label) => ({ label, detail: 'variable' })), { label: 'null' },
        ]);
        default: return [];
      }
    }

    /** The usual layout of a document. Comments keep their lines. */
    export function layout(text) {
      const tokens = tokenize(text);
      const state = { depth: 0, parens: 0 };
      let out = '';
      tokens.forEach((token, at) => {
        const closes = token.text === '}' && !state.parens;
        if (closes) state.depth = Math.max(0, state.depth - 1);
        const separator = separatorBefore(tokens, at, state, text);
        if (separator === 'line' || separator === 'blank') out += (separator === 'blank' ? '\n\n' : '\n') + '  '.repeat(state.depth);
        else out += { none: '', space: ' ', comma: ', ' }[separator];
        out += token.text.trimEnd();
        if (token.text === '{' && !state.parens) state.depth += 1;
        else if ('([{'.includes(token.text)) state.parens += 1;
        else if (!closes && ')]}'.includes(token.text)) state.parens = Math.max(0, state.parens - 1);
      });
      return `${out}\n`;
    }

    /** What stands between a token and the one before it. */
    function separatorBefore(tokens, at, { depth, parens }, text) {
      const token = tokens[at];
      const last = tokens[at - 1];
      if (!last) return 'none';
      const isBroken = text.slice(last.end, token.start).includes('\n');
      if (token.kind === 'comment') return isBroken ? (depth ? 'line' : 'blank') : 'space';
      if (last.kind === 'comment') return 'line';
      if (parens) {
        if ('([{'.includes(last.text) || '(:!)]}'.includes(token.text)) return 'none';
        return [':', '='].includes(last.text) || token.text === '=' || token.text.startsWith('@') ? 'space' : 'comma';
      }
      if (token.text === '}' || last.text === '{') return 'line';
      if (last.text === '}') return depth ? 'line' : 'blank';
      if (token.text === '(' || token.text === ':') return 'none';
      if (last.kind === 'spread') return token.text === 'on' || token.text === '{' || token.text.startsWith('@') ? 'space' : 'none';
      const isCondition = last.text === 'on' && (tokens[at - 2]?.kind === 'spread' || depth === 0);
      if (!depth || isCondition || last.text === ':' || token.text === '{' || token.text.startsWith('@')) return 'space';
      return 'line';
    }

    const keywords = new Set(['query', 'mutation', 'subscription', 'fragment', 'on', 'true', 'false', 'null']);

    /** The class that a token is shown in, by what stands around it. */
    export function classOf(token, next, depth) {
      switch (token.kind) {
        case 'comment': return 'c';
        case 'string': case 'block': return 's';
        case 'number': return 'n';
        case 'punctuator': case 'spread': return 'p';
        case 'name':
          if (token.text.startsWith('$')) return 'v';
          if (token.text.startsWith('@')) return 'd';
          if (keywords.has(token.text)) return 'k';
          if (depth.parens) return next?.text === ':' ? 'a' : /^[A-Z]/.test(token.text) ? 't' : '';
          return /^[A-Z]/.test(token.text) ? 't' : depth.braces ? 'f' : '';
        default: return '';
      }
    }

    """##)
}
