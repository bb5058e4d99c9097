import type { Patient, PatientPhones } from '@crossward/connector-kit';
import type { ConfirmationKind } from '../db/tables/confirmations.ts';
import type { Channel } from '../db/tables/messages.ts';
import type { CareUnitConnection } from '../ehr/connection.ts';
import { phoneOf } from '../ehr/connection.ts';
import { Problem } from '../problems/problem.ts';

type Contactable = PatientPhones & Pick<Patient, 'email'>;

/** Whom a code is sent to: what the caller has told about the patient counts more than what the EHR knows. */
export function contactable(patient: Contactable, details: Contactable | undefined): Contactable {
  return details?.phone || details?.email ? details : patient;
}

/**
 * Where a code is sent: by SMS, otherwise by e-mail. A cancellation code is sent by e-mail only if the configuration of
 * the care unit allows it.
 *
 * @throws Problem `no_contact_channel`
 */
export function contactOf(
  patient: Contactable,
  kind: ConfirmationKind,
  careUnit: CareUnitConnection,
  channels: ReadonlySet<Channel>,
): { readonly channel: Channel; readonly to: string } {
  const phone = phoneOf(patient, careUnit);
  if (phone && channels.has('sms')) return { channel: 'sms', to: phone };
  const byEmail = kind === 'booking' || careUnit.cancellationCodeByEmail;
  if (patient.email && byEmail && channels.has('email')) return { channel: 'email', to: patient.email };
  throw new Problem('no_contact_channel');
}
