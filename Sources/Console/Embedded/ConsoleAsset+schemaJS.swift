// swift-format-ignore-file
// Written by Scripts/embed-console from Assets/schema.js.

extension ConsoleAsset {
  static let schemaJS = ConsoleAsset(
    "schema.js", .javaScript,
    ##"""
    // The schema, read by introspection, and the questions that the editor and its documentation ask.

    const typeReference = 'kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }';
    const query = `query Introspection {
      __schema {
        description queryType { name } mutationType { name } subscriptionType { name }
        directives { name description locations args { ...Input } }
        types {
          kind name description
          fields(includeDeprecated: true) { name description isDeprecated deprecationReason args { ...Input } type { ...Reference } }
          inputFields { ...Input }
          interfaces { name } possibleTypes { name }
          enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
        }
      }
    }
    fragment Input on __InputValue { name description defaultValue type { ...Reference } }
    fragment Reference on __Type { ${typeReference} }`;

    export class Schema {
      constructor(data) {
        const raw = data.__schema;
        this.types = new Map(raw.types.map((type) => [type.name, type]));
        this.directives = raw.directives;
        this.description = raw.description;
        this.roots = {
          query: raw.queryType?.name, mutation: raw.mutationType?.name, subscription: raw.subscriptionType?.name,
        };
      }

      type(name) { return this.types.get(name) ?? null; }
      root(kind) { return this.type(this.roots[kind]); }
      directive(name) { return this.directives.find((each) => each.name === name) ?? null; }
      /** The type below lists and marks of non-null. */
      named(reference) {
        let type = reference;
        while (type?.ofType) type = type.ofType;
        return type ? this.type(type.name) : null;
      }
      field(type, name) {
        if (!type) return null;
        if (name === '__schema' || name === '__type') {
          const named = name === '__schema' ? '__Schema' : '__Type';
          return { name, args: name === '__type' ? [{ name: 'name', type: { kind: 'SCALAR', name: 'String' } }] : [], type: { kind: 'OBJECT', name: named } };
        }
        return type.fields?.find((field) => field.name === name) ?? null;
      }
      possible(type) { return [type, ...(type.possibleTypes ?? []).map((each) => this.type(each.name)), ...(type.interfaces ?? []).map((each) => this.type(each.name))].filter(Boolean); }
      composites() { return [...this.types.values()].filter((type) => ['OBJECT', 'INTERFACE', 'UNION'].includes(type.kind) && !type.name.startsWith('__')); }
      inputs() { return [...this.types.values()].filter((type) => ['SCALAR', 'ENUM', 'INPUT_OBJECT'].includes(type.kind) && !type.name.startsWith('__')); }
      text(reference) {
        if (!reference) return '';
        if (reference.kind === 'NON_NULL') return `${this.text(reference.ofType)}!`;
        if (reference.kind === 'LIST') return `[${this.text(reference.ofType)}]`;
        return reference.name;
      }

      /** A document that selects a root field, its required arguments as variables, and the scalars of what it returns. */
      example(kind, field) {
        const required = field.args.filter((arg) => arg.type.kind === 'NON_NULL' && arg.defaultValue === null);
        const head = required.length ? `(${required.map((arg) => `$${arg.name}: ${this.text(arg.type)}`).join(', ')})` : '';
        const given = required.length ? `(${required.map((arg) => `${arg.name}: $${arg.name}`).join(', ')})` : '';
        const name = field.name[0].toUpperCase() + field.name.slice(1);
        const selection = this.selection(this.named(field.type), '    ', 0);
        const variables = Object.fromEntries(required.map((arg) => [arg.name, this.sample(arg.type, 0)]));
        return {
          text: `${kind} ${name}${head} {\n  ${field.name}${given}${selection}\n}\n`,
          variables: required.length ? JSON.stringify(variables, null, 2) : '',
        };
      }

      selection(type, indent, depth) {
        if (!type?.fields) return type?.kind === 'UNION' ? ` {\n${indent}__typename\n${indent.slice(2)}}` : '';
        const lines = [];
        for (const field of type.fields) {
          if (field.isDeprecated || field.args.some((arg) => arg.type.kind === 'NON_NULL' && arg.defaultValue === null)) continue;
          const of = this.named(field.type);
          if (!of?.fields && of?.kind !== 'UNION') lines.push(indent + field.name);
          else if (depth === 0 && field.name === 'items') lines.push(indent + field.name + this.selection(of, `${indent}  `, 1));
        }
        if (!lines.length) lines.push(`${indent}__typename`);
        return ` {\n${lines.join('\n')}\n${indent.slice(2)}}`;
      }

      sample(reference, depth) {
        if (reference.kind === 'NON_NULL') return this.sample(reference.ofType, depth);
        if (reference.kind === 'LIST') return [];
        const type = this.type(reference.name);
        switch (type?.name) {
          case 'Int': case 'AWSTimestamp': return 1;
          case 'Float': return 1.5;
          case 'Boolean': return true;
          case 'ID': return 'a';
        }
        if (type?.enumValues?.length) return type.enumValues[0].name;
        if (type?.inputFields && depth < 3) {
          const needed = type.inputFields.filter((input) => input.type.kind === 'NON_NULL' || (depth === 0 && this.named(input.type)?.kind === 'SCALAR'));
          return Object.fromEntries(needed.filter((input) => !input.name.startsWith('_')).map((input) => [input.name, this.sample(input.type, depth + 1)]));
        }
        return 'text';
      }
    }

    /** Reads the schema. Throws an error whose message can be shown; `status` is the answer's. */
    export async function loadSchema(headers) {
      const response = await fetch('/graphql', {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json', Accept: 'application/json' },
        body: JSON.stringify({ query, operationName: 'Introspection' }),
      });
      const result = await response.json().catch(() => ({}));
      if (!result.data?.__schema) {
        const error = new Error(result.errors?.[0]?.message ?? `The server answered ${response.status}.`);
        error.status = response.status;
        throw error;
      }
      return new Schema(result.data);
    }

    """##)
}
