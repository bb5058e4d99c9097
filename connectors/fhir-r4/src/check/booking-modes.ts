import type { ProbeFinding } from '@crossward/connector-kit';
import { chooseMode } from '../booking/choose-booking.ts';
import { proveIfMatch } from '../booking/slot-claim/slot-claim-booking.ts';
import { proveTransactions } from '../booking/transaction/transaction-proof.ts';
import { measureTransactions } from '../booking/transaction/transaction-size.ts';
import { operationsOf } from '../booking/vendors/operation-forms.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { FhirClient } from '../server/client.ts';
import { type BookingMode, type FhirSettings, smallestTransaction } from '../settings.ts';
import { attempt } from './attempt.ts';
import { type Proof, proveOperationIds } from './proofs.ts';

type Booking = NonNullable<FhirSettings['booking']>;
type Wanted = NonNullable<Booking['mode']>;

/** Settings that suit the server, including those that are set already. */
type Advice = { readonly [Name in keyof Booking]?: Booking[Name] | undefined };

const experimental: ProbeFinding = {
  name: 'experimental',
  status: 'warning',
  detail: 'Booking by $book has been tried with test servers only, and with no real server.',
};

/** The proof that each mode relies on. Absent if it was not tried. */
type Proofs = Readonly<Partial<Record<Wanted, Proof | undefined>>>;

/** Checks which booking modes the server supports. Returns the mode for the rest of the check. */
export async function probeBooking(
  settings: FhirSettings,
  client: FhirClient,
  facts: ServerFacts,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<BookingMode> {
  const { booking = {} } = settings;
  const proofs = await prove(client, facts, findings);
  const automatic = { ...settings, booking: { ...booking, mode: 'auto' as const } };
  const best = (await attempt(findings, 'booking', () => chooseMode(client, facts, automatic))) ?? 'none';
  const wanted = booking.mode ?? 'auto';
  findings.push(bookingFinding(wanted, best, proofs));
  const mode = wanted === 'auto' ? best : wanted;
  if (mode === 'operations') findings.push(experimental, operationsNamed(settings, facts));
  const advisable = mode === best || isSafer(best, settings, proofs) ? best : undefined;
  const advice: Advice = {
    ...(advisable !== undefined && advisable !== mode ? { mode: advisable } : {}),
    ...(advisable === 'transaction' ? await probeTransactionSize(booking, client, findings, proofs) : {}),
    ...(await probeOperationIds(mode, booking, client, facts, findings)),
  };
  const differing = Object.entries(advice).filter(([name, value]) => value !== booking[name as keyof Booking]);
  // The complete value, so that it can replace the current one.
  if (differing.length > 0) recommended.booking = { ...booking, ...Object.fromEntries(differing) };
  return mode;
}

async function prove(client: FhirClient, facts: ServerFacts, findings: ProbeFinding[]): Promise<Proofs> {
  if (!facts.can('Slot', 'update')) return {};
  const tryOut = async (name: string, consequence: string, work: () => Promise<Proof>) => {
    const proof = await attempt(findings, name, work);
    if (proof) findings.push(told(name, proof, consequence));
    return proof;
  };
  const transaction = facts.transactions
    ? await tryOut('transactions are atomic', 'a failed write is done in part', () => proveTransactions(client))
    : undefined;
  const slot_claim = await tryOut('If-Match is heeded', 'changes by others would be overwritten', () =>
    proveIfMatch(client),
  );
  return { transaction, slot_claim };
}

function bookingFinding(wanted: Wanted, best: BookingMode, proofs: Proofs): ProbeFinding {
  const name = 'booking';
  if (best === 'none' && (wanted === 'auto' || wanted === 'none')) {
    return { name, status: 'warning', detail: 'No safe booking mode was found: appointments are read-only.' };
  }
  const proof = proofs[wanted];
  if (proof === 'broken' || proof === 'rejected') {
    return {
      name,
      status: 'problem',
      detail: `The settings say to book by ${wanted}, but the server does not support it.`,
    };
  }
  return { name, status: 'ok', detail: `Booking by ${wanted === 'auto' ? best : wanted}.` };
}

/**
 * Whether another mode is safer than the one in the settings. Never for `create`, because no proof shows whether a
 * server checks, and never if free times are not Slots.
 */
function isSafer(best: BookingMode, settings: FhirSettings, proofs: Proofs): boolean {
  const { mode = 'auto' } = settings.booking ?? {};
  if (mode === 'auto' || mode === 'none' || mode === 'create' || mode === best) return false;
  if (mode === 'operations' && operationsOf(settings).computed) return false;
  return proofs[best] === 'held';
}

/** Whether the CapabilityStatement names the operations. Some servers do not name theirs. */
function operationsNamed(settings: FhirSettings, facts: ServerFacts): ProbeFinding {
  const { booking = {} } = settings;
  const form = operationsOf(settings);
  const needed = [...(form.propose ? ['find'] : []), 'book', ...(booking.hold === true && form.hold ? ['hold'] : [])];
  const missing = needed.filter((name) => !facts.hasOperation('Appointment', name)).map((name) => `$${name}`);
  const name = 'operations';
  if (missing.length > 0) {
    return { name, status: 'warning', detail: `The CapabilityStatement does not name ${missing.join(' and ')}.` };
  }
  if (form.hold && booking.hold !== true && facts.hasOperation('Appointment', 'hold')) {
    const detail = 'The server has $hold too. If its holds last until a code expires, set booking.hold to true.';
    return { name, status: 'note', detail };
  }
  return { name, status: 'ok', detail: 'The CapabilityStatement names all of them.' };
}

async function probeTransactionSize(
  { mode, transaction_size: size = Number.POSITIVE_INFINITY }: Booking,
  client: FhirClient,
  findings: ProbeFinding[],
  proofs: Proofs,
): Promise<Advice> {
  const name = 'size of transactions';
  const measured = await attempt(findings, name, async () => (await measureTransactions(client)) ?? 'unknown');
  if (measured === undefined) return {};
  if (measured === 'unknown') {
    findings.push({
      name,
      status: 'untried',
      detail: 'The server has too few slots for a trial, or its responses do not show a limit.',
    });
    return {};
  }
  const { limit, tried } = measured;
  if (limit === undefined || limit >= size) {
    findings.push({ name, status: 'ok', detail: `The server accepts ${tried} resources at once.` });
    return {};
  }
  const tellAndAdvise = (consequence: string, advice: Advice): Advice => {
    const detail = `The server accepts at most ${limit} resources at once. ${consequence}.`;
    findings.push({ name, status: 'warning', detail });
    return advice;
  };
  if (limit >= smallestTransaction) {
    const consequence = 'More changes than that are done one after the other';
    return tellAndAdvise(consequence, { transaction_size: limit });
  }
  if (proofs.slot_claim === 'held') {
    const consequence = 'That is too few: with slot claims, several changes are done one after the other';
    return tellAndAdvise(consequence, { mode: 'slot_claim' });
  }
  return tellAndAdvise('That is too few: several changes at once will be rejected', { mode });
}

/**
 * Tried only in modes that write operation ids, unless the settings say that the server does not keep them. Shows too whether
 * the client may create Appointments.
 */
async function probeOperationIds(
  mode: BookingMode,
  booking: Booking,
  client: FhirClient,
  facts: ServerFacts,
  findings: ProbeFinding[],
): Promise<Advice> {
  const writesIds = (mode === 'transaction' || mode === 'slot_claim') && booking.operation_lookup !== false;
  if (!writesIds || !facts.can('Appointment', 'create')) return {};
  const name = 'operation ids are kept';
  const proof = await attempt(findings, name, () => proveOperationIds(client));
  if (proof === 'rejected') {
    const detail = 'The server does not let this client create appointments: give it the right to.';
    findings.push({ name: 'right to book', status: 'problem', detail });
    return {};
  }
  const consequence = 'an appointment is not found by the identifier that it was created with';
  if (proof) findings.push(told(name, proof, consequence));
  return proof === 'broken' ? { operation_lookup: false } : {};
}

function told(name: string, proof: Proof, consequence: string): ProbeFinding {
  switch (proof) {
    case 'held':
      return { name, status: 'ok', detail: 'Tried: it works.' };
    case 'broken':
      return { name, status: 'warning', detail: `Tried: it does not work. The consequence: ${consequence}.` };
    case 'rejected':
      return { name, status: 'warning', detail: 'The server does not let this client write slots in this way.' };
    case 'unproven':
      return { name, status: 'untried', detail: 'The server has no data for this test, or rejected it.' };
  }
}
