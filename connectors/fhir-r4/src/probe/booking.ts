import type { ProbeFinding } from '@crossward/connector-kit';
import { chooseMode } from '../booking/choose.ts';
import { operationsOf } from '../booking/operations/by-name.ts';
import { proveOperationIds } from '../booking/proofs/operation-ids.ts';
import type { Proof } from '../booking/proofs/proof.ts';
import { proveIfMatch } from '../booking/slots/claim/proof.ts';
import { proveTransactions } from '../booking/slots/transaction/proof.ts';
import { measureTransactions } from '../booking/slots/transaction/transaction-size.ts';
import type { ServerFacts } from '../capability-statement.ts';
import type { FhirClient } from '../client.ts';
import { type BookingMode, defaultOperationSystem, type FhirSettings, smallestTransaction } from '../settings.ts';
import { attempt } from './attempt.ts';

type Booking = NonNullable<FhirSettings['booking']>;
type Wanted = NonNullable<Booking['mode']>;

/** Settings that suit the server, also those that it has already. */
type Advice = { readonly [Name in keyof Booking]?: Booking[Name] | undefined };

const experimental: ProbeFinding = {
  name: 'experimental',
  status: 'warning',
  detail: 'Booking by $book has been tried with test servers only, and with no real server.',
};

/** Of what each mode rests on; absent where it was not tried. */
type Proofs = Readonly<Partial<Record<Wanted, Proof | undefined>>>;

/** How the server can be booked in, and the mode that the rest is looked at with. */
export async function probeBooking(
  settings: FhirSettings,
  client: FhirClient,
  facts: ServerFacts,
  findings: ProbeFinding[],
  recommended: Record<string, unknown>,
): Promise<BookingMode> {
  const { booking = {} } = settings;
  const proofs = await prove(booking, client, facts, findings);
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
  if (differing.length > 0) recommended.booking = Object.fromEntries(differing);
  return mode;
}

async function prove(
  booking: Booking,
  client: FhirClient,
  facts: ServerFacts,
  findings: ProbeFinding[],
): Promise<Proofs> {
  if (!facts.can('Slot', 'update')) return {};
  const tryOut = async (name: string, consequence: string, work: () => Promise<Proof>) => {
    const proof = await attempt(findings, name, work);
    if (proof) findings.push(told(name, proof, consequence));
    return proof;
  };
  const transaction = facts.transactions
    ? await tryOut('transactions are atomic', 'what fails is done in part', () =>
        proveTransactions(client, systemOf(booking)),
      )
    : undefined;
  const slot_claim = await tryOut('If-Match is heeded', 'what others have changed would be overwritten', () =>
    proveIfMatch(client),
  );
  return { transaction, slot_claim };
}

function bookingFinding(wanted: Wanted, best: BookingMode, proofs: Proofs): ProbeFinding {
  const name = 'booking';
  if (best === 'none' && (wanted === 'auto' || wanted === 'none')) {
    return { name, status: 'warning', detail: 'No safe way to book was seen: appointments can be read only.' };
  }
  const proof = proofs[wanted];
  if (proof === 'broken' || proof === 'refused') {
    return {
      name,
      status: 'problem',
      detail: `Booking by ${wanted} is asked for, and what it rests on does not hold.`,
    };
  }
  return { name, status: 'ok', detail: `Booking by ${wanted === 'auto' ? best : wanted}.` };
}

/** Not than a server's own check, which cannot be seen from outside, nor where free times are no Slots. */
function isSafer(best: BookingMode, settings: FhirSettings, proofs: Proofs): boolean {
  const { mode = 'auto' } = settings.booking ?? {};
  if (mode === 'auto' || mode === 'none' || mode === 'create' || mode === best) return false;
  if (mode === 'operations' && !operationsOf(settings).timesAreSlots) return false;
  return proofs[best] === 'held';
}

/** Whether the server says that it has what it is to be asked for. Some say nothing of their operations. */
function operationsNamed(settings: FhirSettings, facts: ServerFacts): ProbeFinding {
  const { booking = {} } = settings;
  const { form } = operationsOf(settings);
  const needed = [...(form.propose ? ['find'] : []), 'book', ...(booking.hold === true && form.hold ? ['hold'] : [])];
  const missing = needed.filter((name) => !facts.hasOperation('Appointment', name)).map((name) => `$${name}`);
  const name = 'operations';
  if (missing.length > 0) {
    return { name, status: 'warning', detail: `The CapabilityStatement does not name ${missing.join(' and ')}.` };
  }
  if (form.hold && booking.hold !== true && facts.hasOperation('Appointment', 'hold')) {
    const detail = '$hold is there too. If its holds last until a code has come, booking.hold: true has times held.';
    return { name, status: 'note', detail };
  }
  return { name, status: 'ok', detail: 'The CapabilityStatement names all that are used.' };
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
    findings.push({ name, status: 'untried', detail: 'There are too few slots to try it on, or no answer tells.' });
    return {};
  }
  const { limit, tried } = measured;
  if (limit === undefined || limit >= size) {
    findings.push({ name, status: 'ok', detail: `${tried} resources at once are taken.` });
    return {};
  }
  const tellAndAdvise = (consequence: string, advice: Advice): Advice => {
    const detail = `${limit} resources at once are taken, and no more. ${consequence}.`;
    findings.push({ name, status: 'warning', detail });
    return advice;
  };
  if (limit >= smallestTransaction) {
    const consequence = 'With more changes than fit, one is done after the other';
    return tellAndAdvise(consequence, { transaction_size: limit });
  }
  if (proofs.slot_claim === 'held') {
    const consequence = 'That is too few: by slot claims, one of several changes is done after the other';
    return tellAndAdvise(consequence, { mode: 'slot_claim' });
  }
  return tellAndAdvise('That is too few: several changes at once would be refused', { mode });
}

/** Only where appointments are written with their ids, and taken to be found by them unless the settings say otherwise. */
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
  const proof = await attempt(findings, name, () => proveOperationIds(client, systemOf(booking)));
  const consequence = 'no appointment is found by the identifier that it was created with';
  if (proof) findings.push(told(name, proof, consequence));
  return proof === 'broken' ? { operation_lookup: false } : {};
}

function systemOf({ operation_system = defaultOperationSystem }: Booking): string {
  return operation_system;
}

function told(name: string, proof: Proof, consequence: string): ProbeFinding {
  switch (proof) {
    case 'held':
      return { name, status: 'ok', detail: 'Tried, and so it is.' };
    case 'broken':
      return { name, status: 'warning', detail: `Tried, and it is not so: ${consequence}.` };
    case 'refused':
      return { name, status: 'warning', detail: 'The server does not let this client write slots like that.' };
    case 'unproven':
      return { name, status: 'untried', detail: 'The server has nothing to try it on, or did not take the trial.' };
  }
}
