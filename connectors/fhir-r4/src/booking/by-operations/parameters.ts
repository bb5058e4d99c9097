import { ConnectorError } from '@crossward/connector-kit';
import { type FhirAppointment, type Parameter, typeOf } from '../../fhir.ts';
import type { BookingConnection } from '../../server/connection.ts';
import type { Wanted, Words } from './form.ts';
import { appointmentsIn } from './responses.ts';

/** Calls `$find`. */
export async function proposals(
  ehr: BookingConnection,
  parameter: readonly Parameter[],
): Promise<readonly FhirAppointment[]> {
  const parameters = { resourceType: 'Parameters', parameter } as const;
  const response = await ehr.client.operation('Appointment/$find', parameters, { reads: true });
  if (!response.ok) throw response.rejection ?? new ConnectorError('rejected', 'The EHR rejected $find');
  return appointmentsIn(response.body);
}

export function range({ start, end }: Wanted, startName: string, endName: string): Parameter[] {
  return [
    { name: startName, valueDateTime: start.toISOString() },
    { name: endName, valueDateTime: end.toISOString() },
  ];
}

/** `$find` has no parameter for a Device, so the proposals are filtered by device. */
export function actorParameter({ actor }: Wanted, value: (reference: string) => Partial<Parameter>): Parameter[] {
  const names: Readonly<Record<string, string>> = { Practitioner: 'practitioner', Location: 'location-reference' };
  const name = names[typeOf(actor)];
  return name === undefined ? [] : [{ name, ...value(actor) }];
}

/** Tokens with both system and code. */
export function visitTypes({ appointment }: Wanted): Parameter[] {
  return (appointment.serviceType ?? [])
    .flatMap(({ coding }) => coding ?? [])
    .filter(({ system, code }) => system !== undefined && code !== undefined)
    .map(({ system, code }) => ({ name: 'visit-type', valueString: `${system}|${code}` }));
}

export function commentParameter({ comment }: Words, name: string): Parameter[] {
  return comment === undefined ? [] : [{ name, valueString: comment }];
}
