import { ConnectorError } from '@crossward/connector-kit';
import { type FhirClient, weakTag } from '../client.ts';
import { type FhirSlot, referenceTo } from '../fhir.ts';
import { noVersion } from './probe.ts';
import { versionOf } from './version.ts';

/** A hundred appointments of one slot each, moved at once. */
const mostWanted = 300;

/**
 * - `limit`: how many resources a transaction may write; `undefined` where it was not met
 * - `tried`: the largest that was taken
 */
export interface TransactionSize {
  readonly limit: number | undefined;
  readonly tried: number;
}

/**
 * How many resources the server takes in one transaction, seen from transactions that cannot be done: their first entry
 * stands under a wrong version, and the others write slots as they are. Whatever is refused in another way than for that
 * version is too large. `undefined`: there are too few slots to tell, or the server answers both alike.
 */
export async function measureTransactions(client: FhirClient): Promise<TransactionSize | undefined> {
  const slots = await someSlots(client);
  const statusOf = async (size: number) => (await tryTransaction(client, slots.slice(0, size))).status;
  if (slots.length < 2) return undefined;
  const whenVersionIsWrong = await statusOf(1);
  // Both refusals may be a 400: then they cannot be told apart.
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
    // Some servers want to be told more in a search for slots.
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
