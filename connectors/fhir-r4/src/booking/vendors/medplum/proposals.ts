import type { FhirAppointment } from '../../../fhir.ts';
import { appointmentTime } from '../../../mappers/appointment.ts';
import type { BookingConnection } from '../../../server/connection.ts';
import { appointmentsIn } from '../../by-operations/parameters.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** Medplum searches at most 31 days at once, and returns at most as many proposals as requested. */
const longestDays = 28;
const mostProposals = 1000;

interface Question {
  readonly schedule: string;
  /** `HealthcareService/1` */
  readonly service: string;
  readonly start: Date;
  readonly end: Date;
  /** `Appointment/1`, whose time counts as free. */
  readonly ignoring?: string | undefined;
}

/**
 * The appointments that Medplum proposes for one schedule and service. Some may be in the list twice.
 * https://www.medplum.com/docs/scheduling/appointment-find
 */
export async function findProposals(
  { client }: BookingConnection,
  { schedule, service, start, end, ignoring }: Question,
): Promise<readonly FhirAppointment[]> {
  const found: FhirAppointment[] = [];
  let from = start.getTime();
  while (from < end.getTime()) {
    const until = Math.min(from + longestDays * dayMilliseconds, end.getTime());
    const body = await client.ask('Appointment/$find', [
      ['start', new Date(from).toISOString()],
      ['end', new Date(until).toISOString()],
      ['schedule', schedule],
      ['service-type-reference', service],
      ...(ignoring === undefined ? [] : [['ignore-appointment', ignoring] as const]),
      ['_count', String(mostProposals)],
    ]);
    const some = appointmentsIn(body);
    found.push(...some);
    const last = appointmentTime(some.at(-1) ?? { resourceType: 'Appointment' });
    // A time that starts in this part may end in the next one.
    const next = until < end.getTime() ? until - dayMilliseconds : until;
    // A full response may lack times that start after its last proposal.
    from = some.length >= mostProposals && last && last.start.getTime() > from ? last.start.getTime() : next;
  }
  return found;
}
