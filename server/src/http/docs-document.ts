type Json = Record<string, unknown>;

/**
 * The OpenAPI document as the API reference shows it. The reference shows responses in the order of their status, so the
 * preview of a dry run (200) would come before the response to a booking (201). A range of codes comes last.
 */
export function forReaders(document: { readonly paths: Readonly<Record<string, Json>> }): object {
  const paths = mapValues(document.paths, (path) =>
    mapValues(path, (operation) => {
      const { responses } = operation as { readonly responses?: Json };
      if (!responses) return operation;
      const { 200: preview, ...others } = responses;
      const isWrite = preview !== undefined && '201' in others;
      return isWrite ? { ...(operation as Json), responses: { ...others, '2XX': preview } } : operation;
    }),
  );
  return { ...document, paths };
}

function mapValues<Value, Result>(values: Readonly<Record<string, Value>>, map: (value: Value) => Result) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
