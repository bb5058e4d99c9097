import { ConnectorError } from '@crossward/connector-kit';
import { noVersion } from '../../check/proofs.ts';
import { type FhirSlot, referenceTo } from '../../fhir.ts';
import type { FhirClient } from '../../server/client.ts';
import { weakTag } from '../../server/messages.ts';
import { versionOf } from '../write/appointment.ts';

/** Enough to move a hundred appointments of one slot each at once. */
const mostWanted = 300;

/**
 * - `limit`: how many resources a transaction may write; `undefined` if no limit was found
 * - `tried`: the largest number that the server accepted
 */
export interface TransactionSize {
  readonly limit: number | undefined;
  readonly tried: number;
}

/**
 * Measures how many resources the server accepts in one transaction. It sends transactions that must fail: the first
 * entry has a wrong version, and the others write slots unchanged. If the status differs from that of a wrong version,
 * the transaction is too large. Returns `undefined` if there are too few slots, or if the server responds to both with
 * the same status.
 */
export async function measureTransactions(client: FhirClient): Promise<TransactionSize | undefined> {
  const slots = await someSlots(client);
  const statusOf = async (size: number) => (await tryTransaction(client, slots.slice(0, size))).status;
  if (slots.length < 2) return undefined;
  const whenVersionIsWrong = await statusOf(1);
  // Both rejections may be 400. Then they cannot be distinguished.
  if (whenVersionIsWrong === 400) return undefined;
  let fits = 1;
  let tooLarge = slots.length + 1;
  for (let size = slots.length; tooLarge - fits > 1; size = Math.floor((fits + tooLarge) / 2)) {
    const status = await statusOf(size);
    if (status >= 500 || status === 429) return undefined;
    if (status === whenVersionIsWrong) fits = size;
    else tooLarge = size;
  }
  return { limit: tooLarge > slots.length ? undefined : fits, tried: fits };
}

async function someSlots(client: FhirClient): Promise<FhirSlot[]> {
  const found = new Map<string, FhirSlot>();
  try {
    for await (const { resources } of client.pages('Slot', [['_count', String(mostWanted)]])) {
      for (const slot of resources as readonly FhirSlot[]) found.set(referenceTo(slot), slot);
      if (found.size >= mostWanted) break;
    }
  } catch (error) {
    // Some servers require more parameters in a search for slots.
    if (!(error instanceof ConnectorError) || error.kind !== 'rejected') throw error;
  }
  return [...found.values()].slice(0, mostWanted);
}

function tryTransaction(client: FhirClient, slots: readonly FhirSlot[]) {
  const entry = slots.map((slot, index) => {
    const ifMatch = weakTag(index === 0 ? noVersion : versionOf(slot));
    return { resource: slot, request: { method: 'PUT' as const, url: referenceTo(slot), ifMatch } };
  });
  return client.transaction({ resourceType: 'Bundle', type: 'transaction', entry });
}
