import type { Modality } from '@crossward/connector-kit';
import { extensions } from './urls.ts';

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
