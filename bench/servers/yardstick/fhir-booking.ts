/** A time slot of the gateway in front of the FHIR server. */
export interface Slot {
  readonly start: string;
  readonly end: string;
  /** `emr_id:r-1` for the practitioner `r-1`, otherwise with the type: `emr_id:device_scanner-1`. */
  readonly resource_id: string;
}

export interface FhirRequest {
  readonly method: 'GET' | 'POST';
  /** Relative to the base URL. */
  readonly path: string;
  readonly body?: object;
}

/** Sends a request to the FHIR server and returns the text of the response. */
type Send = (request: FhirRequest) => Promise<string>;

/** Where a server that assigns ids has what is booked. */
export interface Places {
  /** The reference on the server: `Patient/17` for `Patient/p-1`. */
  referenceOf(reference: string): string;
}

const asNamed: Places = { referenceOf: (reference) => reference };

interface FoundSlot {
  readonly id: string;
  readonly meta: { readonly versionId: string };
}

/**
 * Books with the requests that the FHIR connector sends: the patient and the slots at the same time, then a transaction.
 *
 * @returns the response to the transaction
 */
export async function bookDirectly(
  send: Send,
  { start, end, resource_id }: Slot,
  places: Places = asNamed,
): Promise<string> {
  const [type, id] = resourceOf(resource_id);
  const query = new URLSearchParams([
    ['schedule', places.referenceOf(`Schedule/schedule-${id}`)],
    ['start', `ge${new Date(start).toISOString()}`],
    ['start', `lt${new Date(end).toISOString()}`],
    ['_count', '1000'],
    ['_sort', '_id'],
  ]);
  const [found] = await Promise.all([
    send({ method: 'GET', path: `/Slot?${query}` }),
    send({ method: 'GET', path: `/${places.referenceOf('Patient/p-1')}` }),
  ]);
  const { entry } = JSON.parse(found) as { readonly entry?: readonly { readonly resource: FoundSlot }[] };
  const slot = entry?.[0]?.resource;
  if (!slot) throw new Error('The FHIR server did not find the slot');
  return send({ method: 'POST', path: '/', body: transaction(slot, `${type}/${id}`, { start, end }, places) });
}

function resourceOf(resourceId: string): readonly [type: string, id: string] {
  const parts = resourceId.replace(/^emr_id:/, '').split('_');
  const [type = '', id] = parts;
  return id === undefined ? ['Practitioner', type] : [`${type.charAt(0).toUpperCase()}${type.slice(1)}`, id];
}

function transaction(slot: FoundSlot, actor: string, { start, end }: Pick<Slot, 'start' | 'end'>, places: Places) {
  const participant = ['Patient/p-1', actor, 'Location/north'].map((reference) => ({
    actor: { reference: places.referenceOf(reference) },
    status: 'accepted',
  }));
  const appointment = {
    resourceType: 'Appointment',
    status: 'booked',
    identifier: [{ system: 'urn:bench:operation', value: crypto.randomUUID() }],
    serviceType: [{ coding: [{ system: 'https://ehr.example/service-types', code: 'consultation' }] }],
    participant,
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    minutesDuration: 30,
    slot: [{ reference: `Slot/${slot.id}` }],
  };
  const update = { method: 'PUT', url: `Slot/${slot.id}`, ifMatch: `W/"${slot.meta.versionId}"` };
  return {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      { fullUrl: `urn:uuid:${crypto.randomUUID()}`, resource: { ...slot, status: 'busy' }, request: update },
      {
        fullUrl: `urn:uuid:${crypto.randomUUID()}`,
        resource: appointment,
        request: { method: 'POST', url: 'Appointment' },
      },
    ],
  };
}
