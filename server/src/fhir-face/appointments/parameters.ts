import type { SentParameter } from '../from-fhir/schemas.ts';

export function isParameters(body: unknown): boolean {
  return (body as { readonly resourceType?: unknown } | null)?.resourceType === 'Parameters';
}

export function valueIn(parameters: readonly SentParameter[], wanted: string): string | undefined {
  const found = parameters.find(({ name }) => name === wanted);
  return (
    found &&
    (found.valueString ?? found.valueCode ?? found.valueId ?? found.valueUri ?? found.valueReference?.reference)
  );
}

/** The parameters of a body that nothing has checked yet. */
export function parametersIn(body: unknown): readonly Partial<SentParameter>[] {
  const { parameter } = (body ?? {}) as { readonly parameter?: unknown };
  return isParameters(body) && Array.isArray(parameter) ? parameter.filter((it) => it !== null) : [];
}
