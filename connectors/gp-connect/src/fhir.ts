/** What the connector uses of FHIR STU3: https://hl7.org/fhir/STU3/ */
export interface FhirResource {
  readonly resourceType: string;
  readonly id?: string;
  readonly meta?: { readonly versionId?: string; readonly profile?: readonly string[] };
}

export interface Reference {
  readonly reference?: string;
}
export interface Extension {
  readonly url: string;
  readonly valueString?: string;
  readonly valueReference?: Reference;
}

/** An appointment to send, or one to send back as the practice sent it. */
export interface FhirAppointment extends FhirResource {
  readonly contained?: readonly object[];
  readonly extension?: readonly Extension[] | null;
  readonly status?: string;
  readonly description?: string;
  readonly start?: string;
  readonly end?: string;
  readonly slot?: readonly Reference[];
  readonly created?: string;
  readonly comment?: string;
  readonly participant?: readonly { readonly actor?: Reference; readonly status?: string }[];
}

/** https://hl7.org/fhir/STU3/datatypes.html#id */
export function isFhirId(id: string): boolean {
  return /^(?!\.{1,2}$)[A-Za-z0-9.-]{1,64}$/.test(id);
}

/** The id of a resource that may be malformed. */
export function idIn({ id }: { readonly id?: unknown }): string | undefined {
  return typeof id === 'string' ? id : undefined;
}
