import { type ChangeKind, changeKinds } from '@crossward/connector-kit';
import { canChangeAppointments, type ServerFacts } from '../../server/capability-statement.ts';
import type { FhirSettings } from '../../settings.ts';
import type { OperationForm } from './form.ts';

/**
 * The supported changes. A new booking followed by a cancellation is not a move: the appointment's own time would not count
 * as free.
 */
export function operationChanges(
  facts: ServerFacts,
  { booking: { hold, checked_update } = {} }: FhirSettings,
  form: OperationForm,
): readonly ChangeKind[] {
  if (!canChangeAppointments(facts)) return form.cancel ? ['create', 'cancel'] : ['create'];
  // No definition of `$hold` says how long a hold lasts, or lets a client extend it. Only the operator can know.
  const holds = hold === true && form.hold !== null;
  const canMove = form.computed !== undefined || (checked_update === true && facts.can('Appointment', 'update'));
  const kinds = holds ? changeKinds : (['create', 'update', 'cancel'] as const);
  return kinds.filter((kind) => kind !== 'update' || canMove);
}
