import { type ChangeKind, ConnectorError, changeKinds } from '@crossward/connector-kit';
import type { ServerFacts } from '../capability-statement.ts';
import type { FhirClient } from '../client.ts';
import { type BookingMode, defaultOperationSystem, type FhirSettings } from '../settings.ts';
import { operationForms } from './operation-forms.ts';
import { type Proof, proveIfMatch, proveTransactions } from './probe.ts';

/**
 * How this server is booked in. A mode that the settings name is proved and refused if it does not hold; `auto` takes
 * the first that does. A plain create is never chosen: whether a server checks it cannot be seen from outside.
 */
export async function chooseMode(client: FhirClient, facts: ServerFacts, settings: FhirSettings): Promise<BookingMode> {
  const booking = settings.booking ?? {};
  const { mode = 'auto', probe = true, operation_system = defaultOperationSystem } = booking;
  const transactionProof = () => (probe ? proveTransactions(client, operation_system) : 'held');
  const claimProof = () => (probe ? proveIfMatch(client) : 'held');
  switch (mode) {
    case 'transaction':
      return proved(await transactionProof(), mode, 'The EHR does not run transactions all or nothing');
    case 'slot_claim':
      return proved(await claimProof(), mode, 'The EHR does not heed If-Match');
    case 'operations':
    case 'create':
    case 'none':
      return mode;
    case 'auto': {
      const writes = facts.can('Slot', 'update') && facts.can('Appointment', 'create');
      // A transaction changes Appointments by PUT alone: where they are patched, slot claims can do more.
      const isPatched = !facts.can('Appointment', 'update') && facts.can('Appointment', 'patch');
      const transacts = writes && facts.transactions && !isPatched;
      if (transacts && (await transactionProof()) === 'held') return 'transaction';
      const claims = writes ? await claimProof() : 'refused';
      // A server that has no slot yet cannot be tried, and is not asked again when it has one: the standard is trusted.
      if (claims === 'held' || claims === 'unproven') return 'slot_claim';
      return facts.hasOperation('Appointment', 'book') ? 'operations' : 'none';
    }
  }
}

function proved(proof: Proof, mode: BookingMode, message: string): BookingMode {
  if (proof === 'broken') throw new ConnectorError('rejected', message);
  if (proof === 'refused') throw new ConnectorError('rejected', 'The EHR does not let us write slots');
  return mode;
}

/** What can be done to an appointment in each mode. */
export function changesOf(mode: BookingMode, facts: ServerFacts, settings: FhirSettings): readonly ChangeKind[] {
  const canChange = facts.can('Appointment', 'update') || facts.can('Appointment', 'patch');
  switch (mode) {
    case 'none':
      return [];
    case 'transaction':
    case 'slot_claim': {
      const { hold = 'auto' } = settings.booking ?? {};
      const changes = mode === 'transaction' ? facts.can('Appointment', 'update') : canChange;
      // A hold that cannot be confirmed would lose a booking after the right code.
      if (!changes) return ['create'];
      return hold === false ? ['create', 'update', 'cancel'] : changeKinds;
    }
    case 'operations': {
      // No definition of `$hold` lets it be prolonged or says how long it lasts: only the operator can know.
      const { operations = 'ihe', hold, checked_update } = settings.booking ?? {};
      const form = operationForms[operations];
      const holds = hold === true && form.hold !== null;
      // Booking anew and cancelling the former is no move: an appointment's own time would not count as free.
      const moves = form.move !== null || (checked_update === true && facts.can('Appointment', 'update'));
      if (!canChange) return form.cancel ? ['create', 'cancel'] : ['create'];
      const kinds = holds ? changeKinds : (['create', 'update', 'cancel'] as const);
      return kinds.filter((kind) => kind !== 'update' || moves);
    }
    case 'create':
      return facts.can('Appointment', 'update')
        ? ['create', 'update', 'cancel']
        : canChange
          ? ['create', 'cancel']
          : ['create'];
  }
}
