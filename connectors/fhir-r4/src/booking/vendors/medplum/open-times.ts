import type { CareUnitDirectory } from '../../../directory/directory.ts';
import { type FhirAppointment, localReference, typeOf } from '../../../fhir.ts';
import { actorsOf, appointmentTime } from '../../../mappers/appointment.ts';
import type { BookingConnection } from '../../../server/connection.ts';
import type { FreeTimeSource } from '../../../slots/list.ts';
import { appointmentsIn } from '../../by-operations/calls.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** Medplum searches at most 31 days at once, and returns at most as many proposals as requested. */
const longestDays = 28;
const mostProposals = 1000;
const serviceReferenceUrl = 'https://medplum.com/fhir/service-type-reference';

export interface OpenTime {
  readonly proposal: FhirAppointment;
  /** `Schedule/1` */
  readonly schedule: string;
}

interface Question {
  readonly resourceId: string;
  readonly serviceId: string | null;
  readonly start: Date;
  readonly end: Date;
  /** `Appointment/1`, whose time counts as free. */
  readonly ignoring?: string;
}

/** The times of a resource that Medplum proposes in a range, in all of the resource's schedules. */
export async function findOpenTimes(
  ehr: BookingConnection,
  directory: CareUnitDirectory,
  { resourceId, serviceId, start, end, ignoring }: Question,
): Promise<readonly OpenTime[]> {
  const found = await Promise.all(
    directory.schedulesOf([resourceId]).flatMap((schedule) =>
      bookableServices(directory, schedule)
        .filter(({ id }) => serviceId === null || id === serviceId)
        .map(async ({ reference }) => {
          const proposals = await findProposals(ehr, { schedule, service: reference, start, end, ignoring });
          return proposals.map((it) => ({ proposal: withServiceReference(it, reference), schedule }));
        }),
    ),
  );
  return found.flat();
}

/** The services of a schedule that a search can name: those with a HealthcareService. */
function bookableServices(
  directory: CareUnitDirectory,
  schedule: string,
): { readonly id: string; readonly reference: string }[] {
  const { services = [] } = directory.offerOfSchedule(schedule) ?? {};
  return services.flatMap(({ id, reference }) => (reference === undefined ? [] : [{ id, reference }]));
}

/** Adds elements that `$book` requires and some `$find` responses lack. */
function withServiceReference(appointment: FhirAppointment, reference: string): FhirAppointment {
  if (namesService(appointment)) return appointment;
  const [first = {}, ...others] = appointment.serviceType ?? [];
  const extension = [...(first.extension ?? []), { url: serviceReferenceUrl, valueReference: { reference } }];
  return { ...appointment, serviceType: [{ ...first, extension }, ...others] };
}

/** Whether it names a HealthcareService: in Medplum's extension, or as a participant. */
function namesService(appointment: FhirAppointment): boolean {
  const extensions = (appointment.serviceType ?? []).flatMap(({ extension }) => extension ?? []);
  const extension = extensions.find(({ url }) => url === serviceReferenceUrl);
  if (localReference(extension?.valueReference) !== undefined) return true;
  return actorsOf(appointment).some((actor) => typeOf(actor) === 'HealthcareService');
}

/** Free times that Medplum's `$find` proposes. */
export function proposedTimes(ehr: BookingConnection): FreeTimeSource {
  return async (directory, schedules, query) => {
    // One search ignores one appointment, so each appointment gets its own search.
    const ignored = [undefined, ...(query.freeing ?? []).map((id) => `Appointment/${id}`)];
    const wanted = ({ id }: { readonly id: string }) =>
      query.healthcareServiceIds === undefined || query.healthcareServiceIds.includes(id);
    const questions = schedules.flatMap((schedule) =>
      bookableServices(directory, schedule)
        .filter(wanted)
        .flatMap(({ id, reference }) => ignored.map((ignoring) => ({ id, schedule, service: reference, ignoring }))),
    );
    return async ({ start, before }) => {
      // A time that starts in the range may end after it.
      const end = new Date(before.getTime() + dayMilliseconds);
      const found = await Promise.all(
        questions.map(async ({ id, ...question }) => {
          const { resourceId } = directory.offerOfSchedule(question.schedule) ?? {};
          if (resourceId === undefined) return [];
          const proposals = await findProposals(ehr, { ...question, start, end });
          return proposals.flatMap((it) => {
            const time = appointmentTime(it);
            return time && time.start >= start && time.start < before
              ? [{ ...time, resourceId, serviceIds: [id] }]
              : [];
          });
        }),
      );
      return found.flat();
    };
  };
}

interface Search {
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
async function findProposals(
  { client }: BookingConnection,
  { schedule, service, start, end, ignoring }: Search,
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
