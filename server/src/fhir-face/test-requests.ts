import type { Appointment, Bundle, OperationOutcome, Resource, Slot } from '@medplum/fhirtypes';
import type { Gateway, GatewayResponse, RequestOptions } from '../../../test/gateway/gateway.ts';

/** A client that speaks FHIR alone. */
export function fhirClient(gateway: Gateway, careUnit: string) {
  const base = `${careUnit}/fhir-r4`;
  const json = 'application/fhir+json';
  const send = <Body = Appointment>(method: string, path: string, body?: unknown, options: RequestOptions = {}) =>
    gateway.request<Body>(method, `${base}${path}`, {
      ...options,
      ...(body === undefined ? {} : { body, headers: { 'content-type': json, ...options.headers } }),
    });
  return {
    base,
    send,
    get: <Body = Appointment>(path: string, options?: RequestOptions) => send<Body>('GET', path, undefined, options),
    post: <Body = Appointment>(path: string, body?: unknown, headers?: RequestOptions['headers']) =>
      send<Body>('POST', path, body, headers ? { headers } : {}),
    put: (appointment: Partial<Appointment>, headers?: RequestOptions['headers']) =>
      send('PUT', `/Appointment/${appointment.id}`, appointment, headers ? { headers } : {}),
    patch: (id: string | undefined, operations: readonly object[], headers?: RequestOptions['headers']) =>
      send('PATCH', `/Appointment/${id}`, operations, {
        headers: { 'content-type': 'application/json-patch+json', ...headers },
      }),
    /** Free Slots of one practitioner, from a week from now. */
    async slots(count = 20): Promise<readonly Slot[]> {
      const from = new Date(Date.now() + 7 * 86_400_000).toISOString();
      const query = `schedule.actor=Practitioner/r-1&service-type=consultation&start=ge${from}&_count=${count}`;
      const { body } = await send<Bundle<Slot>>('GET', `/Slot?${query}`);
      return (body.entry ?? []).map(({ resource }) => resource as Slot);
    },
  };
}

/** The Appointment that books a Slot for a patient. */
export function bookingOf(slot: Slot | undefined, patient = 'p-1', more: Partial<Appointment> = {}): Appointment {
  return {
    resourceType: 'Appointment',
    status: 'booked',
    slot: [{ reference: `Slot/${slot?.id}` }],
    participant: [{ actor: { reference: `Patient/${patient}` }, status: 'accepted' }],
    ...more,
  };
}

export function parameters(...parameter: readonly object[]) {
  return { resourceType: 'Parameters', parameter };
}

/** The issue type and the native reason of an error. */
export function issueIn({ status, body }: GatewayResponse<Resource>) {
  const [issue] = (body as OperationOutcome).issue ?? [];
  return [status, issue?.code, issue?.details?.coding?.[0]?.code];
}
