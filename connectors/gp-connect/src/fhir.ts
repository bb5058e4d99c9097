/** What the connector uses of FHIR STU3: https://hl7.org/fhir/STU3/ */
export interface FhirResource {
  readonly resourceType: string;
  readonly id?: string;
  readonly meta?: { readonly versionId?: string; readonly profile?: readonly string[] };
}

export interface Reference {
  readonly reference?: string;
}
interface Concept {
  readonly coding?: readonly { readonly system?: string; readonly code?: string }[];
  readonly text?: string;
}
export interface Extension {
  readonly url: string;
  readonly valueCode?: string;
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

export interface Bundle extends FhirResource {
  readonly link?: readonly { readonly relation?: string }[];
  readonly entry?: readonly { readonly resource?: FhirResource }[];
}

export interface OperationOutcome extends FhirResource {
  readonly issue?: readonly { readonly severity?: string; readonly details?: Concept }[];
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

export interface FhirSlot extends FhirResource {
  readonly extension?: readonly Extension[];
  readonly serviceType?: readonly Concept[];
  readonly schedule?: Reference;
  readonly status?: string;
  readonly start?: string;
  readonly end?: string;
}

export interface FhirSchedule extends FhirResource {
  readonly serviceCategory?: Concept;
  readonly actor?: readonly Reference[];
}

/** A Practitioner. A Location has a text as its name. */
export interface FhirActor extends FhirResource {
  readonly name?: readonly HumanName[] | string;
}

export interface FhirAppointment extends FhirResource {
  readonly contained?: readonly object[];
  readonly extension?: readonly Extension[];
  readonly status?: string;
  readonly serviceCategory?: Concept;
  readonly serviceType?: readonly Concept[];
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

/** The first reference to a resource of this type, without a version. */
export function referenceTo(type: string, references: readonly (Reference | undefined)[] = []): string | undefined {
  for (const it of references) {
    const [, found] = new RegExp(`^(${type}/[A-Za-z0-9.-]{1,64})(/_history/|$)`).exec(it?.reference ?? '') ?? [];
    if (found !== undefined) return found;
  }
  return undefined;
}
