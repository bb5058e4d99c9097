/** A reference to a resource of this care unit. */
export interface LocalReference {
  readonly type: string;
  readonly id: string;
}

/**
 * Reads a literal reference: relative, absolute below the care unit's base URL, or of a version.
 * https://hl7.org/fhir/R4/references.html#literal
 *
 * @param base the care unit's base URL
 * @returns `undefined`: it is none, or is of another server
 */
export function readReference(text: string, base: string): LocalReference | undefined {
  const relative = text.startsWith(`${base}/`) ? text.slice(base.length + 1) : text;
  const [, type, id] =
    /^([A-Z][A-Za-z]+)\/([A-Za-z0-9.-]{1,64})(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/.exec(relative) ?? [];
  return type !== undefined && id !== undefined ? { type, id } : undefined;
}
