/** The parameters that hold an identifier of a person or a resource. */
const identifierNames = new Set(['patient_id', 'resource_id', 'author_id']);

interface Params {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
}

/**
 * Moves identifiers from the path and the query to headers: `patient_id: 'p-1'` becomes `header:x-patient-id`, with the
 * header `x-patient-id: p-1`. Proxies log URLs, and an identifier can be a national number.
 *
 * @throws {TypeError} if a header cannot hold the identifier: it is empty or has a control character
 */
export function withHeaderReferences<P extends Params>({ path, query, ...rest }: P) {
  const headers: Record<string, string> = {};
  const moved = (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        if (!identifierNames.has(name)) return [name, value];
        const many = Array.isArray(value);
        const references = (many ? value : [value]).map((each: unknown, index) => {
          if (typeof each !== 'string' || each.startsWith('header:')) return each;
          const header = `x-${name.replaceAll('_', '-')}${many ? `-${index + 1}` : ''}`;
          headers[header] = headerValue(name, each);
          return `header:${header}`;
        });
        return [name, many ? references : references[0]];
      }),
    );
  return {
    params: { ...rest, ...(path ? { path: moved(path) } : {}), ...(query ? { query: moved(query) } : {}) },
    headers,
  };
}

/** Encodes the text as UTF-8. `fetch` takes each character of a header as one byte. */
function headerValue(name: string, text: string): string {
  const trimmed = text.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a header must not contain them.
  if (trimmed === '' || /[\u0000-\u001f\u007f]/.test(trimmed)) {
    throw new TypeError(`${name} must not be empty or contain control characters`);
  }
  return String.fromCharCode(...new TextEncoder().encode(trimmed));
}
