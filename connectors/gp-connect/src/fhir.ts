import type { Modality } from '@crossward/connector-kit';
import { extensions } from './urls.ts';

/** What the connector uses of FHIR STU3: https://hl7.org/fhir/STU3/ */
export interface FhirResource {
  readonly resourceType: string;
  readonly id?: string;
  readonly meta?: { readonly versionId?: string; readonly profile?: readonly string[] };
}

export interface Reference {
  readonly reference?: string;
}

/** An appointment to send, or one to send back as the practice sent it. */
export interface FhirAppointment extends FhirResource {
  readonly contained?: readonly object[];
  readonly extension?:
    | readonly { readonly url: string; readonly valueString?: string; readonly valueReference?: Reference }[]
    | null;
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

const withoutVersion = /^([A-Za-z]+\/[A-Za-z0-9.-]{1,64})(\/_history\/|$)/;

/** Finds references to resources of the practice. One to another server is to another resource, though the id be the same. */
export interface References {
  /** The first to a resource of this type, such as `Patient/2`, without a version. */
  to(type: string, references: readonly (Reference | undefined)[] | undefined): string | undefined;
}

/** @param bases the addresses at which the practice's resources are. References can be relative, too */
export function referencesAt(bases: readonly string[]): References {
  return {
    to(type, references = []) {
      for (const it of references) {
        const whole = it?.reference ?? '';
        const base = bases.find((own) => whole.startsWith(`${own}/`));
        const [, found] = withoutVersion.exec(base === undefined ? whole : whole.slice(base.length + 1)) ?? [];
        if (found?.startsWith(`${type}/`)) return found;
      }
      return undefined;
    },
  };
}

/** https://fhir.nhs.uk/STU3/ValueSet/GPConnect-DeliveryChannel-2 */
const modalities: Readonly<Record<string, Modality>> = { 'In-person': 'in_person', Telephone: 'phone', Video: 'video' };

interface Extended {
  readonly extension?: readonly { readonly url: string; readonly valueCode?: string }[];
}

export function deliveryChannel(resource: Extended): string | undefined {
  return resource.extension?.find(({ url }) => url === extensions.deliveryChannel)?.valueCode;
}

/** `null`: the practice does not say. */
export function modalityOf(channel: string | undefined): Modality | null {
  return (channel !== undefined && modalities[channel]) || null;
}
