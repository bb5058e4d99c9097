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
export interface Identifier {
  readonly system?: string;
  readonly value?: string;
}
export interface HumanName {
  readonly use?: string;
  readonly family?: string;
  readonly given?: readonly string[];
  readonly prefix?: readonly string[];
}

export interface FhirPatient extends FhirResource {
  readonly identifier?: readonly Identifier[];
  readonly active?: boolean;
  readonly name?: readonly HumanName[];
  readonly telecom?: readonly { readonly system?: string; readonly value?: string; readonly use?: string }[];
  readonly gender?: string;
  readonly birthDate?: string;
  readonly deceasedBoolean?: boolean;
  readonly deceasedDateTime?: string;
  readonly address?: readonly {
    readonly use?: string;
    readonly line?: readonly string[];
    readonly city?: string;
    readonly postalCode?: string;
    readonly country?: string;
  }[];
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
