import type { FhirAppointment } from '../../fhir.ts';
import { commentIn, withComment } from '../../mappers/appointment.ts';
import type { FhirConnection } from '../../server/connection.ts';
import type { PlannedAppointment } from './appointment.ts';

/** What is always in a body. */
const always = ['resourceType', 'id', 'status'] as const;

/** The body of a change: `after`, unless the settings describe another one. */
export function bodyOf(
  { settings, dialect }: Pick<FhirConnection, 'settings' | 'dialect'>,
  { before, after }: Pick<PlannedAppointment, 'before' | 'after'>,
): FhirAppointment {
  const { bodies = {}, booked_status } = settings.booking ?? {};
  const kind = before === null ? 'create' : after.status === 'cancelled' ? 'cancel' : 'update';
  const { profile, elements } = bodies[kind] ?? {};
  const status = after.status === 'booked' ? (booked_status ?? 'booked') : after.status;
  if (profile === undefined && elements === undefined)
    return status === after.status ? after : withStatus(after, status);
  const reason = dialect.cancelReason === 'cancelationReason' ? ['cancelationReason'] : [];
  const chosen = elements
    ? withComment(only(after, [...elements, ...reason]), dialect, commentIn(after, dialect))
    : after;
  return {
    ...withStatus(chosen, status),
    ...(profile === undefined ? {} : { meta: { profile: [profile] } }),
  };
}

function withStatus(appointment: FhirAppointment, status: string | undefined): FhirAppointment {
  return status === undefined ? appointment : { ...appointment, status };
}

function only(appointment: FhirAppointment, elements: readonly string[]): FhirAppointment {
  const kept = new Set<string>([...always, ...elements]);
  return Object.fromEntries(
    Object.entries(appointment).filter(([name]) => kept.has(name)),
  ) as unknown as FhirAppointment;
}
