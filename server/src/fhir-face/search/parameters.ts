import type { FastifyRequest } from 'fastify';

/** Names and values. A query and a form are parsed alike. */
export function parametersOf({ query, body }: Pick<FastifyRequest, 'query' | 'body'>): [string, string][] {
  return [query, body].flatMap((part) =>
    Object.entries((part ?? {}) as Readonly<Record<string, string | readonly string[]>>).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)]),
    ),
  );
}

/** A token: https://hl7.org/fhir/R4/search.html#token */
export interface Token {
  /** `undefined`: any. `''`: none. */
  readonly system: string | undefined;
  readonly value: string;
}

/** A token as it is sent, with its escapes. */
export function readToken(part: string): Token {
  const [system = '', ...rest] = splitAt(part, '|');
  if (rest.length === 0) return { system: undefined, value: unescaped(system) };
  return { system: unescaped(system), value: unescaped(rest.join('|')) };
}

/** Splits at each separator that no backslash escapes: https://hl7.org/fhir/R4/search.html#escaping */
export function splitAt(text: string, separator: ',' | '|'): string[] {
  const parts = [''];
  for (const sign of text.match(/\\.|./gsu) ?? []) {
    if (sign === separator) parts.push('');
    else parts.push(`${parts.pop()}${sign}`);
  }
  return parts;
}

/** A value without its escapes. */
export function unescaped(text: string): string {
  return text.replaceAll(/\\([\\,|$])/g, '$1');
}

/** A value as a search names it. */
export function escaped(value: string): string {
  return value.replaceAll(/[\\,|$]/g, '\\$&');
}

/** The one token of a condition such as `system|value`. `undefined`: it names several. */
export function onlyToken(text: string): Token | undefined {
  const [part = '', ...others] = splitAt(text, ',');
  return others.length === 0 ? readToken(part) : undefined;
}
