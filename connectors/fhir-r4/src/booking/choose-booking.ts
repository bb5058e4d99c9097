import { ConnectorError } from '@crossward/connector-kit';
import type { Proof } from '../check/proofs.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirClient } from '../server/client.ts';
import { type FhirConnection, withOperationLookup } from '../server/connection.ts';
import type { BookingMode, FhirSettings } from '../settings.ts';
import { listTimeSlots } from '../slots/list.ts';
import { slotTimes } from '../slots/slot-times.ts';
import type { Booking } from './booking.ts';
import { operationsBooking } from './by-operations/operations-booking.ts';
import { checkedCreateBooking } from './checked-create.ts';
import { proveIfMatch, slotClaimBooking } from './slot-claim/slot-claim-booking.ts';
import { transactionBooking } from './transaction/transaction-booking.ts';
import { proveTransactions } from './transaction/transaction-proof.ts';
import { operationsOf } from './vendors/operation-forms.ts';
import { operationFinder } from './write/operation-results.ts';

/** Opens a booking mode by its name. */
export function openBooking(mode: BookingMode, connection: FhirConnection, facts: ServerFacts): Booking {
  switch (mode) {
    case 'transaction':
      return transactionBooking(connection, facts);
    case 'slot_claim':
      return slotClaimBooking(connection, facts);
    case 'operations':
      return operationsBooking(connection, facts, operationsOf(connection.settings));
    case 'create':
      return checkedCreateBooking(connection, facts);
    case 'none':
      return readingOnly(connection);
  }
}

/**
 * Chooses the booking mode for this server. A mode that the settings name is proved, and rejected if the proof fails.
 * `auto` uses the first mode that is proved. It never uses `create`, because no proof can show whether a server checks
 * a create.
 */
export async function chooseMode(client: FhirClient, facts: ServerFacts, settings: FhirSettings): Promise<BookingMode> {
  const { mode = 'auto', probe = true } = settings.booking ?? {};
  const transactionProof = () => (probe ? proveTransactions(client) : 'held');
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
      // A transaction changes Appointments by PUT only. With PATCH, slot claims can do more.
      const isPatched = !facts.can('Appointment', 'update') && facts.can('Appointment', 'patch');
      const transacts = writes && facts.transactions && !isPatched;
      if (transacts && (await transactionProof()) === 'held') return 'transaction';
      const claims = writes ? await claimProof() : 'rejected';
      // Without a slot the proof has no test data. It is not repeated later, so assume that the server follows the
      // standard.
      if (claims === 'held' || claims === 'unproven') return 'slot_claim';
      return facts.hasOperation('Appointment', 'book') ? 'operations' : 'none';
    }
  }
}

/** @throws ConnectorError `rejected` for settings that only reads and `create` heed */
export function assertSuits(mode: BookingMode, { patient_header, slots, booking = {} }: FhirSettings): void {
  if (mode === 'create' || mode === 'none') return;
  const given = {
    patient_header,
    'slots.by_service': slots?.by_service,
    'booking.bodies': booking.bodies,
    'booking.booked_status': booking.booked_status,
    'booking.comment_extension': booking.comment_extension,
  };
  const name = Object.entries(given).find(([, value]) => value !== undefined)?.[0];
  if (name === undefined) return;
  throw new ConnectorError('rejected', `The setting ${name} needs booking.mode create or none, and not ${mode}`);
}

function proved(proof: Proof, mode: BookingMode, message: string): BookingMode {
  if (proof === 'broken') throw new ConnectorError('rejected', message);
  if (proof === 'rejected') throw new ConnectorError('rejected', 'The EHR does not let the client write slots');
  return mode;
}

/** No booking mode: appointments and free slots can only be read. */
function readingOnly(connection: FhirConnection): Booking {
  const ehr = withOperationLookup(connection, false);
  return {
    capabilities: { changes: [], transactions: false },
    listTimeSlots: (query) => listTimeSlots(ehr, query, slotTimes(ehr)),
    ...operationFinder(ehr),
  };
}
